"""Reading everything that is meant, however many pages it takes."""

import pytest

from lithify.store import Where, reading
from lithify.store.memory_record import COLLECTION
from tests.compaction_parts import KEY, Bench, chat

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


@pytest.mark.parametrize("page", [1, 4, 8, 9])
async def test_every_record_comes_once(bench: Bench, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(reading, "PAGE", page)
    await bench.tell(chat(8))
    found = [r async for r in reading.every_record(bench.store, KEY.scope, COLLECTION, Where(), ["l3"])]
    assert sorted(record.payload["event_id"] for record in found) == [f"s1-{number:03}" for number in range(8)]
    assert all(len(record.vectors["l3"]) == 32 for record in found)
