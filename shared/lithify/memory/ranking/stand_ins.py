"""Leaves out summaries of what is found itself: a summary stands in for turns that are not there."""

from collections.abc import Collection, Iterable, Mapping

from lithify.memory.ranking.candidate import Candidate, Kind


def without_stand_ins(candidates: Iterable[Candidate], covered: Mapping[str, Collection[str]]) -> list[Candidate]:
    """`covered` has the source turns of each summary by its id."""
    listed = list(candidates)
    found = {candidate.source_turn for candidate in listed if candidate.kind is Kind.TURN}
    return [c for c in listed if c.kind is not Kind.SUMMARY or found.isdisjoint(covered.get(c.id, ()))]
