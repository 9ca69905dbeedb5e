"""Measures from the user's side whether the newest stands first: pairs of statements, said and asked over HTTP.

    python -m tests.answers.newest_first pairs.jsonl [--filler N] [--json FILE]

With `--filler N` each user has said N other things besides, taken from other pairs of the file.

A line of the file is {"kind": "update" | "repeat" | "both", "old": ..., "new": ..., "question": ...}. Every pair is a
user of its own on a fresh node, who said `old` weeks before `new`, each in a session of its own.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from lithify.settings import load_settings
from tests.integration.node_process import NodeProcess

DAY: Final = 86_400_000
NOW: Final = 1_760_000_000_000
BATCH: Final = 100
SESSION: Final = 10


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements of one user; only in an update the newer one leaves no room for the older."""

    kind: str
    old: str
    new: str
    question: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the user of a pair gets to see."""

    pair: Pair
    searched: bool  # the newer stands before the older in a search
    assembled: bool  # in an assemble the newer is shown, by rank not behind the older
    is_marked: bool  # the older carries `superseded_by`
    is_wrongly_marked: bool  # the newer does

    @property
    def stands_first(self) -> bool:
        return self.searched and self.assembled


def read_pairs(path: Path) -> list[Pair]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Pair(row["kind"], row["old"], row["new"], row["question"]) for row in rows]


def measure_pairs(node: NodeProcess, pairs: Sequence[Pair], prefix: str = "pair", filler: int = 0) -> list[Outcome]:
    """Says every pair and asks its question; the users are named by `prefix`."""
    turns = [turn for number, pair in enumerate(pairs) for turn in make_turns(f"{prefix}{number}", pair)]
    for number, pair in enumerate(pairs):
        turns += make_filler(f"{prefix}{number}", [other for other in pairs if other != pair], filler)
    for start in range(0, len(turns), BATCH):
        answer = node.post("/v1/turns:batch", {"turns": turns[start : start + BATCH]})
        assert answer.status_code in (200, 202), answer.text
    node.wait_drained(600)
    return [ask_pair(node, f"{prefix}{number}", pair) for number, pair in enumerate(pairs)]


def make_turns(user: str, pair: Pair) -> Iterator[dict[str, Any]]:
    for name, text, days in (("old", pair.old, 60), ("new", pair.new, 3)):
        ids = {"event_id": f"{user}-{name}", "session": f"{user}-{name}"}
        yield ids | {"user": user, "role": "user", "text": text, "ts": NOW - days * DAY}


def make_filler(user: str, others: Sequence[Pair], count: int) -> Iterator[dict[str, Any]]:
    """Yields what the user said besides, in sessions of ten turns before, between and after the pair."""
    texts = [text for pair in others if pair.kind != "update" for text in (pair.old, pair.new)]
    chosen = random.Random(user).sample(texts, min(count, len(texts)))  # noqa: S311 - the same on every run
    for number, text in enumerate(chosen):
        ids = {"event_id": f"{user}-filler{number}", "session": f"{user}-filler{number // SESSION}"}
        yield ids | {"user": user, "role": "user", "text": text, "ts": NOW - 90 * DAY + number * 80 * DAY // count}


def ask_pair(node: NodeProcess, user: str, pair: Pair) -> Outcome:
    hits = node.post("/v1/search", {"user": user, "query": pair.question, "now": NOW}).json()["hits"]
    body = {"user": user, "session": "asking", "query": pair.question, "token_budget": 2000, "now": NOW}
    answer = node.post("/v1/assemble", body | {"order": "score"}).json()
    entries = [entry for block in answer["blocks"] for entry in block["entries"]]
    marks = {hit["event_id"]: hit["superseded_by"] is not None for hit in hits}
    return Outcome(
        pair,
        searched=is_first(f"{user}-new", f"{user}-old", hits),
        assembled=is_first(f"{user}-new", f"{user}-old", entries),
        is_marked=marks.get(f"{user}-old", False),
        is_wrongly_marked=marks.get(f"{user}-new", False),
    )


def is_first(newer: str, older: str, listed: Sequence[dict[str, Any]]) -> bool:
    names = [item["event_id"] for item in listed]
    return newer in names and (older not in names or names.index(newer) < names.index(older))


def describe(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for kind in sorted({one.pair.kind for one in outcomes}):
        of_kind = [one for one in outcomes if one.pair.kind == kind]
        counts = {
            "searched": sum(one.searched for one in of_kind),
            "assembled": sum(one.assembled for one in of_kind),
            "both": sum(one.stands_first for one in of_kind),
            "marked": sum(one.is_marked for one in of_kind),
            "newer marked": sum(one.is_wrongly_marked for one in of_kind),
        }
        yield f"{kind} ({len(of_kind)}): " + ", ".join(f"{name} {count}" for name, count in counts.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--json", type=Path, help="where every outcome is written to, one a line")
    parser.add_argument("--filler", type=int, default=0, help="how many other things each user has said")
    parser.add_argument("--data", type=Path, help="folder to keep the node's data in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        node = NodeProcess((options.data or Path(scratch)) / "data", load_settings().models_dir)
        node.start()
        try:
            for number, path in enumerate(options.files):
                outcomes = measure_pairs(node, read_pairs(path), f"f{number}-", options.filler)
                print(path.name, *describe(outcomes), sep="\n  ")
                if options.json:
                    with options.json.open("a") as file:
                        file.writelines(json.dumps(asdict(one)) + "\n" for one in outcomes)
        finally:
            node.close()


if __name__ == "__main__":
    main()
