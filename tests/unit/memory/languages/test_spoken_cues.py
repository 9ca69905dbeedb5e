"""Questions, dates and standing instructions are told in every shipped language by the phrases of its file."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lithify.memory.guidance import is_general_instruction, is_standing_instruction
from lithify.memory.languages import find_readings, fold_accents, load_languages
from lithify.memory.ranking.cues import asks_about_self, asks_how_many, asks_when, names_number, role_shares
from lithify.memory.ranking.tenses import asks_for_latest, asks_for_past, tells_of_change
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.temporal.query import asks_for_time, temporal_labels

Examples = dict[str, dict[str, list[str]]]


def read_examples(name: str) -> Examples:
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))


BATCHES = [read_examples("cues.toml"), read_examples("later_cues.toml")]
# Each could be told by a reader only: "when" that asks for no time, as in English; two words that are Dutch, too; and
# an "I" of Italian that is a "my" of Spanish.
TOO_ALIKE = {"¿Qué hago cuando llueve?", "Was mag Jonas?", "Mi racconti una barzelletta?"}
# Written without accents they are still those of one language.
ACCENTED = ("de", "es", "fr", "it", "pt", "nl")


def asks_about_order(query: str) -> bool:
    return bool(temporal_labels(query, find_readings(query))) and asks_for_time(query)


TELLS: dict[str, Callable[[str], bool]] = {
    "when": asks_when,
    "latest": asks_for_latest,
    "past": asks_for_past,
    "how_many": asks_how_many,
    "about_self": lambda query: asks_about_self(query, ""),
    "to_assistant": lambda query: "assistant" in role_shares(query),
    "order": asks_about_order,
    "change": tells_of_change,
    "anchored": lambda text: anchor_density(text) > 0.0,
    "numbered": names_number,
    "standing": is_standing_instruction,
    "general": is_general_instruction,
}
CONTRARY = {
    **{f"not_{kind}": kind for kind in TELLS},
    "present_not_past": "past",
    "unanchored": "anchored",
    "unnumbered": "numbered",
}


def list_examples(kinds: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yields the language, what an example may be told as, and the example."""
    for batch in BATCHES:
        for code, table in batch.items():
            for name, kind in kinds.items():
                yield from ((code, kind, text) for text in table.get(name, []) if text not in TOO_ALIKE)


@pytest.mark.parametrize(("code", "kind", "text"), list(list_examples({kind: kind for kind in TELLS})))
def test_what_a_sentence_asks_or_says_is_told_in_its_language(code: str, kind: str, text: str) -> None:
    assert TELLS[kind](text)


@pytest.mark.parametrize(("code", "kind", "text"), list(list_examples(CONTRARY)))
def test_what_only_looks_alike_is_not_mistaken(code: str, kind: str, text: str) -> None:
    assert not TELLS[kind](text)


@pytest.mark.parametrize(
    ("code", "kind", "text"), [one for one in list_examples({kind: kind for kind in TELLS}) if one[0] in ACCENTED]
)
def test_cues_are_told_where_accents_and_capitals_are_left_out(code: str, kind: str, text: str) -> None:
    assert TELLS[kind](fold_accents(text.lower()))


@pytest.mark.parametrize("batch", BATCHES)
def test_every_language_has_examples_of_both_kinds(batch: Examples) -> None:
    assert batch.keys() >= load_languages().keys() - {"en"}
    assert all({"standing", "not_standing", "when", "past"} <= table.keys() for table in batch.values())
