"""Sizes are counted seldom, and a store that does not answer costs nothing but precision."""

from typing import cast

from lithify.assembly.recall.memory_sizes import MemorySizes
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.store import VectorStore, Where

ADA = TenantScope("t", "ada")


class Counted:
    def __init__(self, size: int | None) -> None:
        self.size = size
        self.asked = 0

    async def count(self, *_: object) -> int:
        self.asked += 1
        if self.size is None:
            raise Unavailable
        return self.size


async def test_a_size_is_remembered_for_a_while_the_longer_the_larger_it_is() -> None:
    now = [0.0]
    sizes, store = MemorySizes(lambda: now[0]), Counted(500)
    for moment, asked in ((0.0, 1), (9.0, 1), (11.0, 2)):
        now[0] = moment
        assert await sizes.read(cast("VectorStore", store), ADA, Where(), 24) == 500
        assert store.asked == asked


async def test_without_an_answer_it_is_what_was_seen() -> None:
    store = cast("VectorStore", Counted(None))
    assert await MemorySizes().read(store, ADA, Where(), 24) == 24


async def test_users_are_told_apart() -> None:
    sizes, store = MemorySizes(), Counted(7)
    await sizes.read(cast("VectorStore", store), ADA, Where(), 1)
    await sizes.read(cast("VectorStore", store), TenantScope("t", "bob"), Where(), 1)
    assert store.asked == 2
