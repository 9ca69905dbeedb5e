"""Key names: stable, apart from each other, and in one slot per partition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.streams import keys

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(names, names, names, names)
def test_two_sessions_never_share_a_key(tenant: str, session: str, other_tenant: str, other_session: str) -> None:
    same = (tenant, session) == (other_tenant, other_session)
    assert (keys.tail(0, tenant, "u", session) == keys.tail(0, other_tenant, "u", other_session)) == same
    assert (keys.session_seq(0, "t", tenant, session) == keys.session_seq(0, "t", other_tenant, other_session)) == same
    assert (keys.receipt(tenant, session) == keys.receipt(other_tenant, other_session)) == same


@given(names, names)
def test_ids_cannot_make_a_hash_tag_of_their_own(tenant: str, session: str) -> None:
    assert keys.tail(3, tenant, tenant, session).count("{") == 1
    assert "{" not in keys.receipt(tenant, session)


def test_a_colon_in_an_id_does_not_move_the_border_between_tenant_and_session() -> None:
    assert keys.tail(0, "a:b", "c", "d") != keys.tail(0, "a", "b:c", "d")


@pytest.mark.parametrize(
    ("tenant", "session", "partition"), [("default", "s1", 12), ("default", "s2", 10), ("tenant-ü", "a:b", 11)]
)
def test_partitions_stay_where_earlier_releases_put_them(tenant: str, session: str, partition: int) -> None:
    assert keys.partition_of(tenant, session, 16) == partition


@given(names, names, st.integers(1, 64))
def test_partition_is_one_of_those_there_are(tenant: str, session: str, partitions: int) -> None:
    assert 0 <= keys.partition_of(tenant, session, partitions) < partitions


def test_sessions_spread_over_all_partitions_about_evenly() -> None:
    counts = [0] * 8
    for number in range(8_000):
        counts[keys.partition_of("default", f"session-{number}", 8)] += 1
    assert min(counts) > 850
    assert max(counts) < 1150


@pytest.mark.parametrize("make", [keys.turns, keys.stored, keys.dead])
def test_streams_name_their_partition_and_are_permanent(make: type) -> None:
    assert keys.partition_in(make(12)) == 12
    assert keys.is_permanent(make(12))


def test_keys_that_expire_are_not_declared_permanent() -> None:
    expiring = [keys.tail(0, "t", "u", "turns"), keys.session_seq(0, "t", "u", "dead"), keys.receipt("turns", "e")]
    assert not any(keys.is_permanent(key) for key in expiring)


def test_a_key_without_partition_is_refused() -> None:
    with pytest.raises(ValueError, match="names no partition"):
        keys.partition_in("lithify:turns")
