"""The promises of compaction: no text is lost behind a summary, and none is summarised twice."""

from collections import Counter
from collections.abc import Iterator

from tests.chaos.ledger import Name
from tests.chaos.lives import Lives
from tests.chaos.observation import StoredRecord
from tests.chaos.verdict_words import Breach, Found


def compaction_findings(lives: Lives, records: list[StoredRecord]) -> Found:
    summaries = {record.id: record for record in records if record.kind == "summary"}
    # What is lost, forgotten or never was accepted is found elsewhere.
    turns = {record.name: record for record in records if record.kind == "turn" and record.name in lives.alive}
    covered = Counter(name for summary in summaries.values() for name in covered_by(summary))
    stranded = {name for name, turn in turns.items() if not turn.active and not is_behind(turn, summaries)}
    yield Breach.LOST, "every turn that was put away is behind its summary", stranded
    yield Breach.DUPLICATE, "no turn is summarised twice", {name for name, number in covered.items() if number > 1}
    beside = {name for name, turn in turns.items() if turn.active and covered[name]}
    yield Breach.DUPLICATE, "no turn stands beside its summary", beside
    gone = {name for name in covered if lives.was_accepted(name) and name not in lives.alive}
    yield Breach.RESURRECTED, "no summary covers what was forgotten", gone
    yield (
        Breach.PHANTOM,
        "no summary covers what was not accepted",
        {name for name in covered if not lives.was_accepted(name)},
    )
    known = {name: one.facts.conversation for name, one in lives.alive.items()}
    mixed = {s.id for s in summaries.values() for name in covered_by(s) if known.get(name, talk(s)) != talk(s)}
    yield Breach.CROSSED, "a summary covers turns of its own session", mixed


def covered_by(summary: StoredRecord) -> Iterator[Name]:
    return ((summary.facts.tenant, event_id) for event_id in summary.source_ids)


def is_behind(turn: StoredRecord, summaries: dict[str, StoredRecord]) -> bool:
    summary = summaries.get(turn.compacted_into or "")
    return summary is not None and turn.name in covered_by(summary)


def talk(record: StoredRecord) -> tuple[str, str, str]:
    return record.facts.conversation
