"""What compaction keeps word for word, what it melts, in whose words, and what it leaves alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from lithify.memory.compaction.draft import IsCancelled, WrittenText, never
from lithify.store import LEXICAL, TIER_NAMES
from lithify.streams import generations
from tests.compaction_parts import RULE, Bench, chat, say

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


@dataclass(frozen=True)
class Writer:
    """Says the same of every cluster, and keeps what it was given to read."""

    text: str
    method: str = "t5"
    ready: bool = True
    read: list[tuple[str, ...]] = field(default_factory=list)

    def fits(self, texts: Sequence[str]) -> bool:  # noqa: ARG002 - the protocol's
        return True

    def write(self, texts: Sequence[str], max_tokens: int, is_cancelled: IsCancelled = never) -> WrittenText:  # noqa: ARG002 - the protocol's
        self.read.append(tuple(texts))
        return WrittenText(self.text, 0.9)


FAITHFUL = "The painters of the old house by the lake said that the wall of the room will be in colour this summer."


async def gated_chat(bench: Bench, turns: int = 14) -> None:
    await bench.tell(chat(turns))
    for number in range(0, turns - 4, 2):
        await bench.change(f"s1-{number:03}", gating_score=0.7)


async def test_standing_instruction_is_kept_word_for_word_for_the_user(bench: Bench) -> None:
    """spec 11.1"""
    events = chat(14)
    events[4] = say(4, RULE)
    await bench.tell(events)
    before = await generations.read_generations(bench.redis, "acme", [generations.durable_subject("ada")])
    await bench.run()
    [shard] = await bench.records("guidance", (*TIER_NAMES, LEXICAL))
    [turn] = await bench.records("turn", (*TIER_NAMES, LEXICAL), event_id="s1-004")
    [summary] = await bench.memories("summary")
    assert (shard.payload["text"], shard.payload["scope"], shard.payload["active"]) == (RULE, "user", True)
    assert shard.payload["event_id"] == "s1-004"
    assert shard.lexical == turn.lexical
    assert all(np.allclose(shard.vectors[name], turn.vectors[name]) for name in TIER_NAMES)
    assert RULE not in summary.text
    assert "s1-004" in summary.source_ids
    assert not turn.payload["active"]
    assert await generations.read_generations(bench.redis, "acme", [generations.durable_subject("ada")]) > before


@pytest.mark.parametrize(("stability", "shards"), [(0.35, 1), (0.34, 0)])
async def test_stability_decides_whether_a_rule_is_kept(bench: Bench, stability: float, shards: int) -> None:
    """spec 11.1"""
    events = chat(14)
    events[4] = say(4, RULE)
    await bench.tell(events)
    await bench.change("s1-004", stability=stability)
    await bench.run()
    assert len(await bench.records("guidance")) == shards
    assert "s1-004" in await bench.covered()


async def test_faithful_words_of_a_model_become_the_summary(bench: Bench) -> None:
    """spec 05.6, spec 05.7"""
    await gated_chat(bench)
    result = await bench.run(abstractive=Writer(FAITHFUL))
    [summary] = await bench.memories("summary")
    lineage = summary.lineage or {}
    assert (summary.text, summary.method, result["summary_method"]) == (FAITHFUL, "t5", "t5")
    assert lineage["align"] >= 0.65
    assert summary.confidence == pytest.approx(0.8 * lineage["conf_embed"] + 0.2 * 0.9)


async def test_model_reads_what_earlier_summaries_say(bench: Bench) -> None:
    """spec 05.15 (X66): a summary of an earlier run is older than the turns, though written after them"""
    await gated_chat(bench, turns=14)
    await bench.run(abstractive=Writer(FAITHFUL))
    [earlier] = await bench.memories("summary")
    await bench.tell(chat(10, start=14))
    for number in range(10, 20, 2):
        await bench.change(f"s1-{number:03}", gating_score=0.7)
    writer = Writer(FAITHFUL)
    await bench.run(abstractive=writer)
    assert writer.read == [(earlier.text, *(event.text for event in chat(10, start=10)))]
    lineage = (await bench.memories("summary"))[1].lineage or {}
    assert lineage["support_summary_ids"] == [(earlier.lineage or {})["id"]]


async def test_off_topic_words_of_a_model_never_replace_anything(bench: Bench) -> None:
    """spec 05.5 (X28)"""
    await gated_chat(bench)
    await bench.run(abstractive=Writer("Quarterly zeppelin tax"))
    [summary] = await bench.memories("summary")
    assert summary.method == "extractive"
    assert "zeppelin" not in summary.text
    assert (summary.lineage or {})["conf_decoder"] == 0.9


@pytest.mark.parametrize("text", ["", " \n", "word " * 900], ids=["empty", "blank", "longer"])
async def test_empty_or_longer_words_of_a_model_never_replace_anything(bench: Bench, text: str) -> None:
    """spec 05.8, spec 05.9"""
    await gated_chat(bench)
    result = await bench.run(abstractive=Writer(text))
    assert (result["summary_method"], result["turns_removed"]) == ("extractive", 10)
    [summary] = await bench.memories("summary")
    assert 0 < summary.token_estimate < sum(turn.token_estimate for turn in await bench.memories("turn", active=False))


async def test_turns_without_a_gating_score_are_not_given_to_the_model(bench: Bench) -> None:
    """spec 05.7 (X08)"""
    await bench.tell(chat(14))
    assert (await bench.run(abstractive=Writer("anything")))["summary_method"] == "extractive"


async def test_unrelated_turns_are_never_merged(bench: Bench) -> None:
    await bench.tell([say(number, told_twice(number, number)) for number in range(14)])
    result = await bench.run()
    assert (result["did_compact"], result["turns_removed"], result["errors"]) == (False, 0, [])
    assert result["clusters_declined"] == result["clusters_formed"] > 1
    assert len(await bench.active_turns()) == 14
    assert (await bench.run())["clusters_formed"] == 0


async def test_cluster_of_many_subjects_is_cut_between_them(bench: Bench) -> None:
    events = chat(14)
    events[:10] = [say(number, told_twice(number // 2, number)) for number in range(10)]
    await bench.tell(events)
    await bench.run()
    sizes = [len(summary.source_ids) for summary in await bench.memories("summary")]
    assert len(sizes) > 1
    assert sum(sizes) == 10
    assert all(size % 2 == 0 for size in sizes)  # no subject is torn apart


def told_twice(subject: int, number: int) -> str:
    return " ".join([*(f"{letter}{subject}" for letter in "abcdefghijklmnop"), f"number{number}"])
