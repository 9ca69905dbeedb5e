"""Summaries survive the way into the store and back; keys of sessions can be told apart."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.compaction import SessionKey
from lithify.compactor.records import summary_from_memory, summary_memory, summary_point, turn_from_memory
from lithify.memory.compaction.summary import Lineage, SummaryRecord, summary_id
from lithify.store.memory_record import MemoryRecord

KEY = SessionKey("acme", "ada", "s1")
SOURCES = ("a", "b")
LINEAGE = Lineage(SOURCES, 1.0, 2.0, 9.0, "t5", 0.8, support_summary_ids=("summary:x",), support_tokens=7)
SUMMARY = SummaryRecord(
    summary_id("s1", SOURCES), "s1", "ada", 9.0, "Text of 2024-08-11", "t5", 5, 0.8, 0.2, 0.9, 0.7, 0.8, 0.8, LINEAGE
)

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def test_summary_reads_back_as_it_was() -> None:
    payload = summary_memory(KEY, SUMMARY, "model").payload()
    assert summary_from_memory(MemoryRecord.from_payload(payload)) == SUMMARY


def test_summary_looks_as_old_as_what_it_covers() -> None:
    memory = summary_memory(KEY, SUMMARY, "model")
    assert (memory.ts, (memory.lineage or {})["compacted_at"]) == (2, 9.0)
    assert memory.anchors > 0


def test_summary_without_lineage_can_still_be_planned_with() -> None:
    """Another release may have written less."""
    memory = MemoryRecord("acme", "ada", "summary", "session", "text", 5, session="s1", source_ids=SOURCES)
    read = summary_from_memory(memory)
    assert (read.source_ids, read.lineage.source_ts_max, read.id) == (SOURCES, 5, SUMMARY.id)


def test_summaries_of_two_users_sessions_of_one_name_are_two_records() -> None:
    other = SessionKey("acme", "bob", "s1")
    assert summary_point(KEY, SUMMARY.id, "f") != summary_point(other, SUMMARY.id, "f")


def test_turn_without_links_is_bound_to_nobody() -> None:
    turn = turn_from_memory(
        MemoryRecord("acme", "ada", "turn", "session", "text", 5, event_id="e", role="user", gating_score=0.4)
    )
    assert (turn.id, turn.seq, turn.bundle_id, turn.reply_to, turn.gating_score) == ("e", 0, "", "", 0.4)


@given(names, names, names, names)
def test_session_key_reads_back_and_never_meets_another(tenant: str, user: str, session: str, other: str) -> None:
    key = SessionKey(tenant, user, session)
    assert SessionKey.parse(key.name) == key
    assert (SessionKey(tenant, user, other).name == key.name) == (other == session)
