"""No tenant sees, changes or removes a record of another, whatever it asks for."""

from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.store import VectorStore, Where
from tests.contract.samples import ACME, RIVAL, dense, id_of, keys, lexical, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

SECRET = id_of("secret", "rival")
# Same user, session, words and vectors on both sides: only the tenant tells them apart.
SHARED: dict[str, Any] = {"user": "ada", "session": "main", "kind": "turn", "active": True, "ts": 5}

TEMPTATIONS = {
    "nothing said": Where(),
    "by its id": Where().ids([SECRET]),
    "by its tenant": Where().equals("tenant", "rival"),
    "by any tenant": Where().any_of("tenant", ["acme", "rival"]),
    "by its session": Where().equals("session", "main"),
    "by its user": Where().equals("user", "ada"),
    "by its time": Where().between("ts", 0),
    "by what it is not": Where().differs("tenant", "acme"),
}


@pytest_asyncio.fixture
async def two_tenants(store: VectorStore, name: str) -> VectorStore:
    await store.upsert(ACME, name, [record("mine", **SHARED)])
    await store.upsert(RIVAL, name, [record("secret", tenant="rival", **SHARED)])
    return store


@pytest.mark.parametrize("case", TEMPTATIONS)
async def test_reads_never_cross_tenants(two_tenants: VectorStore, name: str, case: str) -> None:
    where = TEMPTATIONS[case]
    for scope in (ACME, TenantScope("acme", "ada")):
        for hits in await two_tenants.query_batch(scope, name, [dense(where=where), lexical((1,), where)]):
            assert SECRET not in [hit.id for hit in hits]
        assert await keys(two_tenants, name, where, scope) <= {"mine"}
        assert await two_tenants.fetch(scope, name, [SECRET]) == []


@pytest.mark.parametrize("case", TEMPTATIONS)
async def test_writes_never_cross_tenants(two_tenants: VectorStore, name: str, case: str) -> None:
    [before] = await two_tenants.fetch(RIVAL, name, [SECRET])
    await two_tenants.set_payload(ACME, name, TEMPTATIONS[case], {"text": "tampered"})
    await two_tenants.delete(ACME, name, TEMPTATIONS[case])
    assert await two_tenants.fetch(RIVAL, name, [SECRET]) == [before]


async def test_a_foreign_record_cannot_be_written(two_tenants: VectorStore, name: str) -> None:
    with pytest.raises(Invalid, match="belongs to tenant 'rival'"):
        await two_tenants.upsert(ACME, name, [record("planted", tenant="rival")])


async def test_a_foreign_record_is_not_replaced_by_one_with_its_id(two_tenants: VectorStore, name: str) -> None:
    [before] = await two_tenants.fetch(RIVAL, name, [SECRET])
    await two_tenants.upsert(ACME, name, [replace(record("impostor"), id=SECRET)])
    assert await two_tenants.fetch(RIVAL, name, [SECRET]) == [before]


async def test_a_scope_with_a_user_is_confined_to_the_user(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("hers", user="ada", session="s"), record("his", user="bob", session="s")])
    hers, his = TenantScope("acme", "ada"), id_of("his")
    assert await keys(store, name, Where().equals("session", "s"), hers) == {"hers"}
    assert await store.fetch(hers, name, [his]) == []
    await store.delete(hers, name, Where().ids([his]))
    with pytest.raises(Invalid, match="belongs to user 'bob'"):
        await store.upsert(hers, name, [record("his", user="bob")])
    assert await keys(store, name, Where()) == {"hers", "his"}


async def test_without_a_scope_nothing_is_read(store: VectorStore, name: str) -> None:
    with pytest.raises(TypeError, match="TenantScope"):
        await store.count("acme", name, Where())  # type: ignore[arg-type] # the mistake this test is about
