import pytest

from lithify.memory.ranking.tenses import asks_for_latest, asks_for_past, names_date, tells_of_change


@pytest.mark.parametrize(
    "query",
    [
        "What is the latest plan?",
        "her MOST RECENT job",
        "newest address",
        "as of now",
        "What is my current rent?",
        "Where do I live now?",
        "Do I still play tennis?",
        "Wo wohne ich jetzt?",
        "Quelle est mon adresse actuelle ?",
        "¿Dónde vivo ahora?",
        "我现在住在哪里？",
    ],
)
def test_questions_for_the_latest_are_recognised(query: str) -> None:
    assert asks_for_latest(query)


@pytest.mark.parametrize(
    "query", ["What did she do recently?", "the last time we met", "What happened later?", "Do you know him?"]
)
def test_dating_an_event_is_not_asking_for_the_latest(query: str) -> None:
    assert not asks_for_latest(query)


@pytest.mark.parametrize("query", ["Where did I live?", "What was my number?", "my former boss", "Wo war ich gestern?"])
def test_questions_about_the_past_are_recognised(query: str) -> None:
    assert asks_for_past(query)


@pytest.mark.parametrize("query", ["her latest game on November 7, 2022", "in July 2023", "on 2023-07-01", "1.7.2023"])
def test_dates_are_recognised(query: str) -> None:
    assert names_date(query)


@pytest.mark.parametrize(
    "query", ["¿Qué pasó en marzo de 2023?", "Was war im März 2023?", "2023年3月我们在哪里？", "मार्च 2023 में हम कहाँ थे?"]
)
def test_a_month_of_a_year_is_a_date_in_any_language(query: str) -> None:
    assert names_date(query)


@pytest.mark.parametrize("query", ["our holiday in August", "the budget for 2026", "May I have 2 of them?", "at 10:30"])
def test_other_numbers_are_no_dates(query: str) -> None:
    assert not names_date(query)


@pytest.mark.parametrize("query", ["Where do I live?", "How old is Mila?", "Who leads Atlas?", "When is the standup?"])
def test_questions_about_the_present_are_not_about_the_past(query: str) -> None:
    assert not asks_for_past(query)


@pytest.mark.parametrize("text", ["We moved to Porto.", "I don’t eat meat", "seit Mai in Bonn", "我搬到上海了"])
def test_change_is_recognised(text: str) -> None:
    assert tells_of_change(text)


def test_a_plain_statement_tells_of_no_change() -> None:
    assert not tells_of_change("I live in Berlin.")
