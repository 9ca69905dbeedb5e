"""The Python client against the real application: what it sends is understood, and what it gets is typed."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from lithify.access import KeyScope
from lithify.client import AsyncMemory, Context, Memory, Missing, Refused
from lithify.errors import Conflict
from tests.integration.whole_app import ServedApp, whole_app

URL = "http://127.0.0.1"


@pytest_asyncio.fixture
async def app(redis_url: str, tmp_path: Path) -> AsyncIterator[ServedApp]:
    async with whole_app(redis_url, tmp_path) as served:
        yield served


async def test_a_turn_that_was_sent_is_found_assembled_and_explained(app: ServedApp) -> None:
    key = await app.key("acme", KeyScope.INGEST, KeyScope.READ)
    transport = httpx.ASGITransport(app.app)
    async with AsyncMemory(URL, api_key=key, transport=transport) as memory:
        said = "The zebra moved to Lisbon."
        sent = await memory.ingest(event_id="e/1", user="ada", session="s", role="user", text=said, wait=True)
        assert (sent.status, sent.searchable) == ("accepted", True)
        again = await memory.ingest(event_id="e/1", user="ada", session="s", role="user", text=said)
        assert (again.status, again.stream_id) == ("duplicate", sent.stream_id)
        assert (await memory.receipt("e/1")).embedded_at is not None

        found = await memory.search("zebra Lisbon", user="ada", limit=3)
        assert [hit.event_id for hit in found.hits] == ["e/1"]
        prompt = [{"role": "user", "content": "Where is the zebra?"}]
        context = await memory.assemble(user="ada", session="s2", token_budget=2000, messages=prompt)
        assert said in context.text
        assert context.messages == tuple(prompt)
        assert context.trace_id is not None
        assert (await memory.trace(context.trace_id))["kind"] == "assemble"


async def test_both_clients_split_memory_and_take_tool_calls(app: ServedApp) -> None:
    key = await app.key("acme", KeyScope.INGEST, KeyScope.READ, KeyScope.ADMIN)
    call = {"function": {"name": "count_zebras", "arguments": "{}"}}

    def use(url: str) -> Context:
        with Memory(url, api_key=key) as memory:
            memory.put_document("AGENTS.md", "- Never feed the zebras.")
            memory.ingest(user="ada", session="s", role="assistant", content=None, tool_calls=[call])
            return memory.assemble(user="ada", session="s", token_budget=900, query="zebras", form="split")

    async with app.listening() as url:
        first = await asyncio.to_thread(use, url)
        async with AsyncMemory(url, api_key=key) as memory:
            second = await memory.assemble(user="ada", session="s", token_budget=900, query="all", form="split")
    assert "Never feed" in first.stable
    assert second.stable == first.stable
    assert "count_zebras" in first.fresh
    assert (first.text, first.degraded) == ("", ())


async def test_the_examples_of_the_documentation_run(app: ServedApp, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    async with app.listening() as url:
        for example in examples:
            code = compile(example.replace("http://127.0.0.1:8420", url), "client.md", "exec")
            await asyncio.to_thread(exec, code, {})
    printed = capsys.readouterr().out
    assert len(examples) == 5
    assert "<recalled_memories>" in printed
    assert "I moved to Lisbon in May." in printed
    assert "no receipt for 'never-sent'" in printed


async def test_refusals_are_told_apart(app: ServedApp) -> None:
    key = await app.key("acme", KeyScope.INGEST)
    transport = httpx.ASGITransport(app.app)
    async with AsyncMemory(URL, api_key=key, transport=transport, fails_soft=True) as memory:
        batch = await memory.ingest_batch(
            [
                {"event_id": "e", "user": "ada", "session": "s", "role": "user", "text": "one"},
                {"event_id": "f", "user": "", "session": "s", "role": "user", "text": "two"},
            ]
        )
        assert [item.status for item in batch.results] == ["accepted", "invalid"]
        assert batch.results[1].errors is not None
        assert batch.results[1].errors[0].field == "user"
        with pytest.raises(Conflict):
            await memory.ingest(event_id="e", user="ada", session="s", role="user", text="other")
        with pytest.raises(Refused) as forbidden:
            await memory.search("x")
        assert forbidden.value.status == 403
    async with AsyncMemory(URL, api_key=await app.key("acme", KeyScope.READ), transport=transport) as memory:
        with pytest.raises(Missing):
            await memory.receipt("never sent")
