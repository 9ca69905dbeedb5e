"""A record is a pure function of its event and the model."""

import numpy as np

from lithify.embedder.records import becomes_memory, make_records
from lithify.embedding import HashEmbedder
from lithify.events import Event
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store.memory_record import MemoryRecord

EVENT = Event(
    "e1", "acme", "ada", "s1", "user", "Moved in on 2024-08-11.", ts=5, seq=3, meta={"k": 1}, source_ref="chat"
)


def test_the_same_event_gives_the_same_point() -> None:
    embedder, analyser = HashEmbedder(), LexicalAnalyser()
    [first], [again] = (make_records([EVENT], embedder, analyser) for _ in range(2))
    assert first.id == again.id
    assert first.payload == again.payload
    assert first.lexical == again.lexical


def test_ids_differ_between_tenants_and_events() -> None:
    other = Event("e1", "other", "ada", "s1", "user", "x", ts=5)
    later = Event("e2", "acme", "ada", "s1", "user", "x", ts=5)
    records = make_records([EVENT, other, later], HashEmbedder(), LexicalAnalyser())
    assert len({record.id for record in records}) == 3


def test_the_payload_carries_what_recall_needs() -> None:
    [record] = make_records([EVENT], HashEmbedder(), LexicalAnalyser())
    memory = MemoryRecord.from_payload(record.payload)
    assert (memory.tenant, memory.user, memory.session, memory.event_id, memory.seq) == ("acme", "ada", "s1", "e1", 3)
    assert (memory.kind, memory.scope, memory.active, memory.source_ref) == ("turn", "session", True, "chat")
    assert memory.token_estimate == 6
    assert memory.anchors > 0
    assert memory.stability == 0.5
    assert memory.payload() == dict(record.payload)


def test_a_model_without_prefix_tiers_fills_the_full_vector_only() -> None:
    [record] = make_records([EVENT], HashEmbedder(), LexicalAnalyser())
    assert list(record.vectors) == ["l3"]
    assert np.isclose(np.linalg.norm(record.vectors["l3"]), 1.0)


def test_tool_turns_never_become_memory() -> None:
    assert not becomes_memory(Event("e", "t", "u", "s", "tool", "x", 1))
    assert becomes_memory(EVENT)
