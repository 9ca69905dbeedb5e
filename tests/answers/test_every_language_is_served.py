"""Facts are kept, chatter is not, and what shares words is found, in every language that has a file."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

FOLDER = Path(__file__).parent.parent / "unit" / "memory" / "languages"
ASKED = ("turns", "later_turns")  # each fact with a question that shares its words
BATCHES = (*ASKED, "varied_turns")
LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "ru", "zh", "ja", "ko", "ar", "hi")
Turns = Mapping[str, list[str]]


def read_batch(name: str) -> dict[str, Turns]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


TURNS = {batch: read_batch(batch) for batch in BATCHES}
CASES = [(batch, code) for batch in BATCHES for code in LANGUAGES]
ASKED_CASES = [(batch, code) for batch in ASKED for code in LANGUAGES]


@pytest.fixture(scope="module", autouse=True)
def _told(node: NodeProcess) -> None:
    for batch, code in CASES:
        turns = TURNS[batch][code]
        for place, pair in enumerate(zip(turns["facts"], turns["chatter"], strict=True)):
            for kind, text in zip(("fact", "chatter"), pair, strict=True):
                turn = {"user": f"{batch}-{code}", "session": "s", "role": "user", "text": text}
                assert node.post("/v1/turns", turn | {"event_id": f"{batch}-{code}-{kind}-{place}"}).is_success
    node.wait_drained()


def promoted_share(node: NodeProcess, batch: str, code: str, kind: str) -> float:
    places = range(len(TURNS[batch][code]["chatter"]))
    receipts = [node.http.get(f"/v1/receipts/{batch}-{code}-{kind}-{place}").json() for place in places]
    return sum(bool(receipt["promoted"]) for receipt in receipts) / len(receipts)


def search(node: NodeProcess, user: str, query: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = node.post("/v1/search", {"user": user, "query": query}).json()["hits"]
    return hits


@pytest.mark.parametrize(("batch", "code"), CASES)
def test_facts_are_kept(node: NodeProcess, batch: str, code: str) -> None:
    assert promoted_share(node, batch, code, "fact") >= 0.8


@pytest.mark.parametrize(("batch", "code"), CASES)
def test_chatter_is_not_kept(node: NodeProcess, batch: str, code: str) -> None:
    assert promoted_share(node, batch, code, "chatter") <= 0.2


@pytest.mark.parametrize(("batch", "code"), ASKED_CASES)
def test_a_question_finds_the_fact_that_shares_its_words(node: NodeProcess, batch: str, code: str) -> None:
    questions = TURNS[batch][code]["questions"]
    first = [search(node, f"{batch}-{code}", question)[0]["event_id"] for question in questions]
    assert sum(found == f"{batch}-{code}-fact-{place}" for place, found in enumerate(first)) >= 4
