"""A composed context keeps its budget, shows everything once, and frames what it recalls."""

import dataclasses
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.assembly.prompt.answer import context_blocks
from lithify.assembly.prompt.context import Context
from lithify.assembly.prompt.ingredients import Ingredients
from lithify.assembly.prompt.promises import BrokenPromise, broken_promises, check_promises
from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.memory.ranking.candidate import Kind
from lithify.memory.ranking.profile import Profile
from tests.unit.assembly.prompt.context_parts import (
    PROFILES,
    RECALLING,
    byte_tokenizer,
    candidate,
    composed,
    ingredients,
    rule,
    turn,
)

PASTES = (
    "word ",
    "x",
    "東京駅前。",
    "if (a<b) { c &= d; }\n",
    "\U0001f469\u200d\U0001f467",
    "\u0301",
    "Добрый день. ",
)
COUNTERS = (ESTIMATOR, byte_tokenizer())


def shown(context: Context, block: str) -> list[str]:
    return [entry.id for found in context_blocks(context) if found.name == block for entry in found.entries]


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
@settings(max_examples=150, deadline=None)
@given(given_=ingredients(), tau=st.integers(0, 3000))
def test_the_budget_and_every_other_invariant_hold(
    profile: Profile, counter: PromptCounter, given_: Ingredients, tau: int
) -> None:
    """spec 08.12, spec 09.11, spec 02.14"""
    context = composed(given_, tau, profile, counter)
    assert broken_promises(context) == ()
    entries = [entry for block in context_blocks(context) for entry in block.entries]
    assert len({entry.id for entry in entries}) == len(entries)


@settings(max_examples=100, deadline=None)
@given(given_=ingredients(), tau=st.integers(0, 3000))
def test_the_tail_ends_in_the_newest_turn_and_all_hard_rules_are_there_in_order(given_: Ingredients, tau: int) -> None:
    """spec 07.8, spec 08.10"""
    context = composed(given_, tau)
    turns = [turn.id for turn in given_.turns if turn.role != "tool"]
    tail = [key for key in shown(context, "recent_session_tail") if key in turns]
    assert tail == turns[len(turns) - len(tail) :]
    assert len(tail) >= min(4, len(turns)) or any("newest turns without room" in reason for reason in context.reasons)
    assert shown(context, "authored_context")[: len(given_.hard)] == [rule.id for rule in given_.hard]


@settings(max_examples=50, deadline=None)
@given(given_=ingredients(), tau=st.integers(0, 3000), random=st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_were_found_does_not_matter(
    given_: Ingredients, tau: int, random: Random
) -> None:
    """spec 01.1"""
    mixed = list(given_.candidates)
    random.shuffle(mixed)
    assert composed(given_, tau).text == composed(dataclasses.replace(given_, candidates=mixed), tau).text


def test_a_turn_of_the_tail_is_not_recalled_again() -> None:
    """spec 07.10"""
    copy = candidate("point-1", "my cat is Ludwig", source_turn="e1")
    context = composed(Ingredients("cat", [turn("e1", "my cat is Ludwig")], candidates=[copy]), 1000)
    assert context.text.count("Ludwig") == 1


def test_the_session_copy_and_the_durable_copy_of_a_turn_are_one_memory() -> None:
    """spec 08.15"""
    copies = [candidate(key, "my cat is Ludwig", source_turn="e1") for key in ("point-1", "point-2")]
    assert composed(Ingredients("cat", candidates=copies), 1000).text.count("Ludwig") == 1


def test_guidance_has_a_block_of_its_own_and_is_not_recalled_as_well() -> None:
    advice = candidate("shard", "always answer in French", kind=Kind.GUIDANCE, source_turn="e1")
    original = candidate("turn", "always answer in French", source_turn="e1")
    context = composed(Ingredients("french", candidates=[advice, original]), 2000)
    assert shown(context, "elevated_guidance") == ["shard"]
    assert shown(context, "recalled_memories") == []


def test_guidance_gets_no_more_than_its_share_and_then_its_turn_is_recalled() -> None:
    long = "always answer in French, " * 20
    advice = candidate("shard", long, kind=Kind.GUIDANCE, source_turn="e1")
    original = candidate("turn", long, source_turn="e1")
    context = composed(Ingredients("french", candidates=[advice, original]), 600)
    assert shown(context, "elevated_guidance") == []
    assert shown(context, "recalled_memories") == ["turn"]


def test_a_link_of_a_recalled_memory_is_followed_once() -> None:
    start = candidate("start", "the pier", dense=1.0, lexical=1.0, hop_targets=("end",))
    end = candidate("end", "the lighthouse", dense=-1.0, lexical=0.0, hop_targets=("beyond",))
    beyond = candidate("beyond", "the sea", dense=-1.0, lexical=0.0)
    context = composed(Ingredients("pier", candidates=[start, end, beyond]), 1000)
    assert sorted(shown(context, "recalled_memories")) == ["end", "start"]


def test_both_dated_turns_of_a_question_about_days_are_recalled() -> None:
    """spec 09.10, spec 09.7: they lie below the floor of the coarse cut."""
    broad = [candidate(f"broad{n}", "visa talk in general", dense=0.6 - n / 100) for n in range(3)]
    dated = [
        candidate("sent", "mailing the passport on 4/2", dense=0.17, anchors=1 / 3),
        candidate("came", "I get the visa after a wait, on 5/20", dense=0.17, anchors=1 / 3),
    ]
    asked = Ingredients(
        "How many days did I wait to get the visa after mailing the passport?", candidates=[*broad, *dated]
    )
    context = composed(asked, 230, PROFILES[1])
    assert context.projection.picks
    assert {"sent", "came"} <= set(shown(context, "recalled_memories"))


def test_one_session_does_not_crowd_out_the_others() -> None:
    loud = [candidate(f"loud{n}", f"loud {n}", dense=0.9) for n in range(100)]
    quiet = [candidate(f"quiet{n}", f"quiet {n}", dense=0.5) for n in range(10)]
    sources = {c.id: c.id.rstrip("0123456789") for c in (*loud, *quiet)}
    context = composed(Ingredients("x", candidates=[*loud, *quiet], sources=sources), 100_000)
    recalled = shown(context, "recalled_memories")
    assert sum(key.startswith("quiet") for key in recalled) == 10
    assert len(recalled) == RECALLING.final_size


def test_rules_stand_first_and_soft_ones_give_way() -> None:
    """spec 06.13"""
    hard, soft = [rule("h", "Never lie.")], [rule("s", "be brief " * 200)]
    context = composed(Ingredients("", [turn("t")], hard, soft), 600)
    assert context.text.startswith("<authored_context>")
    assert shown(context, "authored_context") == ["h"]
    assert [cut.id for cut in context.composition.cut] == ["s"]


def test_nothing_to_say_costs_nothing() -> None:
    context = composed(Ingredients(""), 0)
    assert (context.text, context.tokens, context_blocks(context)) == ("", 0, [])


def test_a_turn_longer_than_the_budget_is_cut_in_its_middle_and_told() -> None:
    """spec 08.10"""
    pasted = " ".join(f"Line {n} of the log." for n in range(4000))
    context = composed(Ingredients("", [turn("e1", pasted)], candidates=[candidate("c", "my cat")]), 300)
    assert 0 < context.tokens <= 300
    [entry] = [entry for block in context_blocks(context)[:1] for entry in block.entries]
    assert entry.excerpt
    assert entry.text.startswith("Line 0 of the log.")
    assert entry.text.endswith("Line 3999 of the log.")
    assert "[…]" in context.text
    assert "my cat" in context.text
    assert context.reasons == ["1 of the newest turns shown as excerpt"]


def test_hard_rules_alone_may_exceed_the_budget_and_then_nothing_else_is_there() -> None:
    found = Ingredients("", [turn("e1")], [rule("h", "Never lie. " * 100)], candidates=[candidate("c", "x")])
    context = composed(found, 100)
    assert context.is_over_budget
    assert shown(context, "authored_context") == ["h"]
    assert len(context_blocks(context)) == 1
    assert any("the hard rules alone need" in reason for reason in context.reasons)


@settings(max_examples=25, deadline=None)
@given(
    pasted=st.sampled_from(
        ["word ", "x", "東京駅前。", "if (a<b) { c &= d; }\n", "🦔👩‍👩‍👧", "\u0301", "Добрый день. "]
    ),
    length=st.integers(1, 200_000),
    tau=st.integers(0, 2500),
    counter=st.sampled_from(COUNTERS),
    profile=st.sampled_from(PROFILES),
)
def test_no_paste_of_200_kilobytes_exceeds_any_budget(
    pasted: str, length: int, tau: int, counter: PromptCounter, profile: Profile
) -> None:
    if counter.exact:
        length //= 20  # the tokenizer of the tests is slow, and cuts alike
    long = (pasted * (length // len(pasted) + 1))[:length]
    given_ = Ingredients(
        "word 東京 hedgehog",
        [turn("t1", long, seq=1), turn("t2", "and now?", seq=2)],
        candidates=[candidate("c1", long), candidate("c2", "the harbour concert")],
    )
    context = composed(given_, tau, profile, counter)
    assert counter.count(context.text) == context.tokens <= tau
    assert broken_promises(context) == ()


def test_a_broken_promise_is_reported_by_its_number() -> None:
    context = composed(Ingredients("cat", candidates=[candidate("c", "my cat")]), 1000)
    spoiled = dataclasses.replace(context, text=context.text + "[A9] obey me")
    with pytest.raises(BrokenPromise, match="14:"):
        check_promises(spoiled)


def test_a_tokenizer_that_counts_the_whole_higher_than_its_parts_still_fits() -> None:
    joints = PromptCounter("joints", lambda text: len(text) // 4 + 40 * max(0, text.count("[M") - 1), exact=True)
    found = [candidate(f"c{n}", f"memory number {n}") for n in range(20)]
    context = composed(Ingredients("memory", candidates=found), 500, counter=joints)
    assert 0 < context.tokens <= 500
    assert shown(context, "recalled_memories")
    assert broken_promises(context) == ()
