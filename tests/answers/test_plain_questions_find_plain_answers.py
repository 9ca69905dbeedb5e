"""What a newcomer asks first is answered first: plain questions, each with one plain answer in a short talk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.node_process import NodeProcess

ADA = (
    ("user", "Hi! I'm Ada, I just installed this and want to see what you remember."),
    ("assistant", "Welcome, Ada! Tell me about yourself, or ask me anything."),
    ("user", "I moved to Lisbon in May and love the trams."),
    ("assistant", "Lisbon is a wonderful place to start over. Have you found a favourite viewpoint yet?"),
    ("user", "Not yet, too busy. I work as a nurse in a children's hospital, mostly night shifts."),
    ("assistant", "Night shifts are demanding. Try to keep your bedroom dark during the day."),
    ("user", "Can you recommend a good book about sleep?"),
    ("assistant", "Why We Sleep by Matthew Walker is a popular start."),
    ("user", "My sister Mia is getting married on 12 September, I still need a dress."),
    ("assistant", "Congratulations to Mia! Emerald green suits most people."),
    ("user", "We adopted a dog from the shelter last week, he is called Biscuit and eats everything."),
    ("assistant", "Biscuit sounds like a handful. Keep chocolate and grapes out of reach."),
    ("user", "Speaking of food, I'm allergic to peanuts, so no satay recipes please."),
    ("assistant", "Understood: no peanuts. How about a coconut curry instead?"),
    ("user", "Sounds great, thanks!"),
    ("user", "I bought a used Renault Clio for 4,800 euros, was that too much?"),
    ("assistant", "For a well-kept Clio that is a fair price."),
    ("user", "My birthday is on the 3rd of March, and I always bake my own cake."),
    ("assistant", "A lovely tradition. What kind of cake?"),
    ("user", "Lemon, obviously. On weekends I go climbing with my friend Jonas."),
    ("assistant", "Climbing is great for the back. Indoors or outdoors?"),
    ("user", "Mostly indoors. How do I get chalk out of a black shirt?"),
    ("assistant", "Brush it off dry, then dab with cold water."),
    ("user", "For work I switched from Excel to Notion, all my schedules are there now."),
    ("assistant", "Notion can share those schedules with your colleagues, too."),
)

QUESTIONS = (
    ("Where does Ada live?", "Lisbon"),
    ("What is Ada's job?", "nurse"),
    ("When is Mia's wedding?", "12 September"),
    ("What is my dog called?", "Biscuit"),
    ("What am I allergic to?", "peanuts"),
    ("Which car does Ada drive?", "Clio"),
    ("How much did the car cost?", "4,800"),
    ("When is my birthday?", "3rd of March"),
    ("Who does Ada go climbing with?", "Jonas"),
    ("Which tool do I use for my schedules?", "Notion"),
    ("What is my sister's name?", "Mia"),
    ("Where do I work?", "hospital"),
)
# The model finds "Hi! I'm Ada" about as near to a question about Ada as what she says of her car.
LEAST_FIRST = 10


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("plain") / "data", models_dir)
    node.start()
    for place, (role, text) in enumerate(ADA):
        turn = {"event_id": f"ada-{place}", "user": "ada", "session": "first", "role": role, "text": text}
        assert node.post("/v1/turns", turn).is_success
    node.wait_drained()
    yield node
    node.close()


def rank_of_answer(node: NodeProcess, question: str, answer: str) -> int:
    """Returns the place of the first hit in which Ada herself says it."""
    hits = node.post("/v1/search", {"user": "ada", "query": question}).json()["hits"]
    return next(place for place, hit in enumerate(hits, 1) if answer in hit["text"] and hit["role"] == "user")


def test_the_plain_answer_ranks_first(ada: NodeProcess) -> None:
    ranks = {question: rank_of_answer(ada, question, answer) for question, answer in QUESTIONS}
    assert sum(rank == 1 for rank in ranks.values()) >= LEAST_FIRST, ranks
    assert max(ranks.values()) <= 3, ranks


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_a_new_session_is_told_the_answer(ada: NodeProcess, question: str, answer: str) -> None:
    asked = {"user": "ada", "session": "second", "query": question, "token_budget": 800}
    assert answer in ada.post("/v1/assemble", asked).json()["text"]
