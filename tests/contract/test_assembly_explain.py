"""`lithify explain` draws real receipts: what was considered, why it won or lost, and which budget cut it."""

from typing import Any

import orjson
import pytest
import typer
from redis.asyncio import Redis
from typer.testing import CliRunner

from lithify.assembly.schema import SearchRequest
from lithify.cli import explain
from lithify.cli.console import data
from lithify.client import Memory, Missing, Record
from lithify.store import VectorStore
from tests.contract.assembly_parts import CALLER, Scene, open_scene

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class Served:
    """Stands for the service: one receipt, and the texts of its memories."""

    def __init__(self, receipt: dict[str, Any], texts: dict[str, str]) -> None:
        self.receipt, self.texts = receipt, texts

    def trace(self, _: str) -> dict[str, Any]:
        return self.receipt

    def read(self, memory_id: str) -> Record:
        text = self.texts.get(memory_id)
        if text is None:
            raise Missing("404 Not Found")
        return Record(memory_id, "memory", "user", "u", 1, text, True)


@pytest.fixture
def scene(memories: VectorStore, redis: Redis) -> Scene:
    return open_scene(memories, redis)


def drawn(monkeypatch: pytest.MonkeyPatch, served: Served, *options: str) -> str:
    monkeypatch.setattr(Memory, "trace", lambda _, trace_id: served.trace(trace_id))
    monkeypatch.setattr(Memory, "read", lambda _, memory_id: served.read(memory_id))
    monkeypatch.setattr(data, "width", 240)
    app = typer.Typer()
    app.command()(explain.explain)
    result = CliRunner().invoke(app, ["some-trace", *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


async def receipt_of(scene: Scene, trace_id: str) -> dict[str, Any]:
    return await scene.service.traces.read(CALLER, trace_id)


async def test_an_assembly_is_drawn_with_its_budgets_and_verdicts(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    won = await scene.remember("my cat is [Ludwig]", "e1")
    await scene.remember("my dog and my fish " * 60, "long")
    await scene.say("my cat sleeps", "t1")
    answer = await scene.assemble("my cat", token_budget=130)
    receipt = await receipt_of(scene, answer.trace_id)
    output = drawn(monkeypatch, Served(receipt, {won: "my cat is [Ludwig]"}))
    assert 'assemble of "my cat"' in output
    assert "my cat is [Ludwig]" in output
    assert "in the prompt" in output
    assert "no room left for recall" in output
    assert "(no longer stored)" in output
    assert "not treated as a question about time" in output
    [total] = [line for line in output.splitlines() if line.startswith("all, with frames")]
    assert str(answer.tokens) in total
    assert "2 candidates, 1 injected" in output


async def test_rows_are_limited_and_counted(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        await scene.remember(f"cat number {n}", f"e{n}")
    receipt = await receipt_of(scene, (await scene.assemble("cat")).trace_id)
    output = drawn(monkeypatch, Served(receipt | {"shortened": {"considered": 7}}, {}), "--rows", "2")
    assert output.count("(no longer stored)") == 2
    assert "3 not shown (--rows); 7 left out of the receipt for its size" in output


async def test_a_question_about_time_names_its_events(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """spec 09.2"""
    query = "How many days did I wait to get the visa after mailing the passport?"
    await scene.remember("mailing the passport on 4/2", "e1", anchors=1 / 3)
    receipt = await receipt_of(scene, (await scene.assemble(query)).trace_id)
    assert 'cover "wait get visa", "mailing passport"' in drawn(monkeypatch, Served(receipt, {}))


async def test_a_search_is_drawn_and_json_is_the_receipt_itself(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await scene.remember("my cat is Ludwig", "e1")
    answer = await scene.service.search(CALLER, SearchRequest(query="cat", user="ada"))
    served = Served(await receipt_of(scene, answer.trace_id), {found: "my cat is Ludwig"})
    assert "my cat is Ludwig" in drawn(monkeypatch, served)
    assert orjson.loads(drawn(monkeypatch, served, "--json")) == served.receipt
