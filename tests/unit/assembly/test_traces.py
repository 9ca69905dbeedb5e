"""Receipts of answers: no answer waits for them, and what cannot be kept is dropped without an error."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from lithify.assembly.traces import WAITING, TraceBook
from lithify.events import TenantScope
from lithify.http import NotFound
from lithify.streams.connection import end_tasks
from lithify.telemetry.metrics import REGISTRY
from lithify.traces import FolderTraces, TraceLimits
from tests.integration.stream_parts import eventually

SCOPE = TenantScope("acme")


@pytest.fixture
def shelf(tmp_path: Path) -> FolderTraces:
    return FolderTraces(tmp_path, TraceLimits())


def count(result: str) -> float:
    return REGISTRY.get_sample_value("lithify_traces_total", {"result": result}) or 0.0


def has_counted(result: str, wanted: float) -> bool:
    return count(result) == wanted


async def test_a_receipt_can_be_read_before_it_is_written_and_after(shelf: FolderTraces) -> None:
    book = TraceBook(shelf)
    trace_id = book.keep(SCOPE, {"query": "q", "score": 0.12345678901})
    waiting = await book.read(SCOPE, trace_id)
    assert await shelf.get("acme", trace_id) is None
    await book.flush()
    assert await book.read(SCOPE, trace_id) == waiting == {"query": "q", "score": 0.1234568}
    assert await TraceBook(shelf).read(SCOPE, trace_id) == waiting


async def test_another_tenant_reads_it_neither_before_nor_after(shelf: FolderTraces) -> None:
    book = TraceBook(shelf)
    trace_id = book.keep(SCOPE, {"query": "q"})
    for _ in range(2):
        with pytest.raises(NotFound, match=trace_id):
            await book.read(TenantScope("blue"), trace_id)
        await book.flush()


async def test_a_receipt_that_is_compared_later_keeps_every_digit(shelf: FolderTraces) -> None:
    book = TraceBook(shelf)
    trace_id = book.keep(SCOPE, {"score": 0.12345678901}, exact=True)
    await book.flush()
    assert await book.read(SCOPE, trace_id) == {"score": 0.12345678901}


async def test_what_another_process_is_just_writing_is_waited_for(shelf: FolderTraces) -> None:
    answered, asked = TraceBook(shelf), TraceBook(shelf)
    trace_id = answered.keep(SCOPE, {"query": "q"})
    reading = asyncio.create_task(asked.read(SCOPE, trace_id))
    await answered.flush()
    assert await reading == {"query": "q"}


async def test_running_it_writes_what_comes(shelf: FolderTraces) -> None:
    book = TraceBook(shelf)
    running = asyncio.create_task(book.run())
    for query in ("first", "second"):
        before = count("kept")
        trace_id = book.keep(SCOPE, {"query": query})
        await eventually(partial(has_counted, "kept", before + 1))
        assert await TraceBook(shelf).read(SCOPE, trace_id) == {"query": query}
    await end_tasks([running])


async def test_without_room_receipts_are_dropped_and_counted_and_the_book_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder can be made here")
    book = TraceBook(FolderTraces(tmp_path / "file", TraceLimits()))
    running = asyncio.create_task(book.run())
    for _ in range(2):
        before = count("dropped")
        book.keep(SCOPE, {"query": "q"})
        await eventually(partial(has_counted, "dropped", before + 1))
    assert not running.done()
    await end_tasks([running])


async def test_only_so_many_wait_whatever_the_shelf_does(shelf: FolderTraces) -> None:
    book = TraceBook(shelf)
    first, second, *_ = [book.keep(SCOPE, {"n": n}) for n in range(WAITING + 1)]
    with pytest.raises(NotFound):
        await book.read(SCOPE, first)
    assert await book.read(SCOPE, second) == {"n": 1}
