"""The store's pure parts: ids, conditions, scopes, batches, judgements."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import models

from lithify.errors import Invalid, LithifyError, Misconfigured, Unavailable
from lithify.events import EVERY_TENANT, TenantScope
from lithify.store import CollectionSpec, Query, Record, SparseVector, Where, point_id
from lithify.store.catalogue import CatalogueEntry, read_catalogue, write_catalogue
from lithify.store.records import join_parts
from lithify.store.schema import place_of_records
from lithify.store.scoping import PLACE, add_places, confine, place, remove_places
from lithify.store.server import add_port, check_completed, why_too_old
from lithify.store.server_codec import FLOAT_BYTES, request_bytes, translate_error
from lithify.store.where import AnyOf, Equals

names = st.text(max_size=8)


@given(st.lists(names, min_size=4, max_size=4), st.lists(names, min_size=4, max_size=4))
def test_different_records_have_different_ids(one: list[str], other: list[str]) -> None:
    assert (point_id(*one) == point_id(*other)) == (one == other)


def test_a_separator_in_a_name_does_not_make_ids_meet() -> None:
    assert point_id("a|b", "c", "k", "f") != point_id("a", "b|c", "k", "f")
    assert join_parts("1:a", "b") != join_parts("1", "a1:b")


def test_an_id_never_changes() -> None:
    # Stored ids must be found again by every later release.
    assert point_id("acme", "turn", "e1", "minilm") == "3ffa5f1b-5435-5cbd-bf35-d900847c24a4"


def test_a_condition_leaves_the_where_it_narrows_alone() -> None:
    base = Where().equals("kind", "turn")
    assert base.equals("active", True) != base
    assert base == Where((Equals("kind", "turn"),))
    assert base & Where().differs("role", "tool") == base.differs("role", "tool")


@pytest.mark.parametrize("values", [["a", 1], [True], [1.5]])
def test_any_of_takes_one_kind_of_value(values: list[Any]) -> None:
    with pytest.raises(Invalid, match="only texts or only whole numbers"):
        Where().any_of("kind", values)


def test_any_of_reads_an_iterator_once() -> None:
    assert Where().any_of("seq", iter([1, 2])).must == (AnyOf("seq", (1, 2)),)


def test_a_range_needs_a_bound() -> None:
    with pytest.raises(Invalid, match="ts"):
        Where().between("ts")


def test_a_tenant_is_always_a_condition() -> None:
    assert confine(TenantScope("acme"), Where()).must == (Equals("tenant", "acme"),)
    assert confine(EVERY_TENANT, Where()).must == ()


def test_user_and_session_become_places_of_the_tenant() -> None:
    must = confine(TenantScope("acme", "ada"), Where().equals("session", "s")).must
    assert must == (
        Equals("tenant", "acme"),
        Equals(PLACE, place("acme", "user", "ada")),
        Equals(PLACE, place("acme", "session", "s")),
    )


def test_a_user_may_see_what_all_users_share() -> None:
    must = confine(TenantScope("acme", "ada", shared=True), Where()).must
    assert must == (Equals("tenant", "acme"), AnyOf(PLACE, (place("acme", "user", "ada"), place("acme", "user", ""))))


def test_places_of_different_tenants_never_meet() -> None:
    assert place("a", "user", "b4:userc") != place("a4:userb", "user", "c")
    assert place("a", "user", "x") != place("a", "session", "x")


def test_places_are_added_for_the_engine_and_hidden_from_the_caller() -> None:
    payload = {"tenant": "acme", "user": "ada", "session": None, "text": "hi"}
    stored = add_places(Record("id", payload))
    assert stored[PLACE] == [place("acme", "user", "ada")]
    assert remove_places(stored) == payload
    assert remove_places(None) == {}


def test_a_record_counts_with_its_payload_and_every_float() -> None:
    bare = Record("id", {"text": "x" * 10})
    full = Record("id", {"text": "x" * 10}, {"l1": np.ones(3)}, SparseVector((1,), (1.0,)))
    assert request_bytes(bare) == len('{"text":"xxxxxxxxxx"}')
    assert request_bytes(full) == request_bytes(bare) + 5 * FLOAT_BYTES


def test_new_records_never_go_where_a_name_points() -> None:
    assert place_of_records("memories", set()) == "memories~1"
    assert place_of_records("memories", {"memories~1", "docs~1"}) == "memories~2"


def test_a_catalogue_survives_its_writing(tmp_path: Path) -> None:
    entries = {"memories": CatalogueEntry("memories~1", (1, 2, 3), "m")}
    write_catalogue(tmp_path, entries)
    assert read_catalogue(tmp_path) == entries
    assert read_catalogue(tmp_path / "none") == {}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"memories": {}}', b'{"memories": 3}'])
def test_a_damaged_catalogue_stops_the_process(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "collections.json").write_bytes(content)
    with pytest.raises(Misconfigured, match="damaged"):
        read_catalogue(tmp_path)


MISTAKES: dict[str, Callable[[], object]] = {
    "using": lambda: Query(Where(), "l4", np.ones(2), 1),
    "sparse for dense": lambda: Query(Where(), "l1", SparseVector((), ()), 1),
    "dense for sparse": lambda: Query(Where(), "lexical", np.ones(2), 1),
    "limit": lambda: Query(Where(), "l1", np.ones(2), 0),
    "with_vectors": lambda: Query(Where(), "l1", np.ones(2), 1, ("lexical",)),
    "sparse lengths": lambda: SparseVector((1, 2), (1.0,)),
    "sparse twice": lambda: SparseVector((1, 1), (1.0, 1.0)),
    "sparse negative": lambda: SparseVector((-1,), (1.0,)),
    "sparse too large": lambda: SparseVector((2**32,), (1.0,)),
    "collection name": lambda: CollectionSpec("../etc", (1, 2, 3), "m"),
    "hidden collection": lambda: CollectionSpec(".x", (1, 2, 3), "m"),
    "no collection": lambda: CollectionSpec("", (1, 2, 3), "m"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_senseless_value_cannot_be_made(case: str) -> None:
    with pytest.raises(Invalid):
        MISTAKES[case]()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, Invalid) for status in (400, 413, 422)),
        *((status, Misconfigured) for status in (401, 403)),
        *((status, Unavailable) for status in (404, 409, 429, 500, 503)),
    ],
)
def test_a_refusal_is_told_from_an_outage(status: int, kind: type[LithifyError]) -> None:
    assert isinstance(translate_error(status, "why", "http://q"), kind)


@pytest.mark.parametrize("status", ["acknowledged", "wait_timeout"])
def test_only_a_completed_write_is_done(status: str) -> None:
    with pytest.raises(Unavailable, match="repeated"):
        check_completed(models.UpdateResult(operation_id=1, status=models.UpdateStatus(status)))


def test_old_servers_are_refused() -> None:
    assert why_too_old("1.16.3") is None
    assert why_too_old("2.0.0") is None
    assert "1.15.9 is too old" in (why_too_old("1.15.9") or "")


@pytest.mark.parametrize(
    ("given_url", "used"),
    [("http://q", "http://q:6333"), ("https://q/prefix", "https://q:6333/prefix"), ("http://q:80", "http://q:80")],
)
def test_qdrants_port_is_the_default(given_url: str, used: str) -> None:
    assert add_port(given_url) == used


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(Misconfigured, match="LITHIFY_QDRANT_URL"):
        add_port("http://q:port")
