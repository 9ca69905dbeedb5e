"""What a target means: by equality, in its tenant, never by a prefix."""

import pytest

from lithify.events import Event
from lithify.forgetting import Target, TargetKind, memory_target
from lithify.forgetting.target import tombstones_of
from lithify.store import Record
from tests.unit.forgetter.forgetting_parts import of_session, of_source, of_user, spoken

EVENT = spoken("e1", source_ref="mail/1")
TARGETS = [
    of_user("u1"),
    of_session("u1", "s1"),
    of_source("mail/1"),
    of_source("mail/1", "u1"),
    Target("acme", TargetKind.MEMORY, "u1", "some-id", ("e0", "e1")),
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_an_event_finds_the_tombstone_of_every_target_that_covers_it(target: Target) -> None:
    assert target.covers(EVENT)
    assert set(target.tombstones()) & set(tombstones_of(EVENT))


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize(
    "event",
    [
        spoken("e10", "u10", "s10", source_ref="mail/10"),
        spoken("e", "u", "s", source_ref="mail"),
        spoken("e1x", "U1", "S1"),
        spoken("e1", "u", "1s1", source_ref="mail/11"),
    ],
    ids=lambda event: event.user,
)
def test_names_that_merely_begin_alike_are_others(target: Target, event: Event) -> None:
    assert not target.covers(event)
    assert not set(target.tombstones()) & set(tombstones_of(event))


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_the_same_names_in_another_tenant_are_others(target: Target) -> None:
    assert not target.covers(spoken("e1", source_ref="mail/1", tenant="rival"))


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_target_survives_the_queue(target: Target) -> None:
    assert Target.from_arguments(target.arguments()) == target


def test_a_summary_is_forgotten_without_its_turns() -> None:
    record = Record("some-id", {"kind": "summary", "user": "u1", "source_ids": ["e1"], "mentions": []})
    assert memory_target("acme", record) == Target("acme", TargetKind.MEMORY, "u1", "some-id")
