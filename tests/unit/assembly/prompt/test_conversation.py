"""The newest turns as a conversation: people first, tools in a line each."""

from lithify.assembly.prompt.conversation import read_conversation
from lithify.assembly.prompt.token_counter import ESTIMATOR
from lithify.memory.prompt.excerpt import GAP
from lithify.memory.turn import Turn
from tests.unit.assembly.prompt.context_parts import RECALLING


def said(place: int, role: str, text: str = "Hello.") -> Turn:
    return Turn(f"t{place}", float(place), role, text, seq=place)


def test_tools_do_not_count_among_the_turns_that_must_be_shown() -> None:
    turns = [said(n, "user" if n % 4 == 0 else "tool") for n in range(16)]
    dialogue = read_conversation(turns, RECALLING, ESTIMATOR)
    spoken = [turn.id for turn in dialogue.mandatory if turn.role == "user"]
    assert spoken == ["t0", "t4", "t8", "t12"]


def test_of_many_results_the_newest_have_a_line_and_the_others_are_counted() -> None:
    turns = [said(0, "user"), *(said(n, "tool", f"result {n}") for n in range(1, 11)), said(11, "assistant")]
    dialogue = read_conversation(turns, RECALLING, ESTIMATOR)
    assert [turn.id for turn in dialogue.mandatory] == ["t0", "t7", "t8", "t9", "t10", "t11"]
    assert dialogue.left_out == 6


def test_a_long_result_is_one_short_line() -> None:
    result = '{"rows": [\n' + "\n".join(f'  {{"id": {n}, "state": "open"}},' for n in range(3000)) + "\n]}"
    dialogue = read_conversation([said(0, "user"), said(1, "tool", result)], RECALLING, ESTIMATOR)
    told = dialogue.mandatory[1]
    assert "\n" not in told.text
    assert GAP in told.text
    assert ESTIMATOR.count(told.text) <= RECALLING.tool_tokens
    assert dialogue.item(told).is_excerpt
    assert not dialogue.item(dialogue.mandatory[0]).is_excerpt


def test_a_short_result_is_told_in_full() -> None:
    dialogue = read_conversation([said(0, "tool", "exit code 0\n")], RECALLING, ESTIMATOR)
    assert [turn.text for turn in dialogue.turns] == ["exit code 0"]
    assert dialogue.shortened == frozenset()


def test_a_session_of_tools_alone_shows_their_newest_results() -> None:
    dialogue = read_conversation([said(n, "tool", f"result {n}") for n in range(9)], RECALLING, ESTIMATOR)
    assert [turn.id for turn in dialogue.mandatory] == ["t5", "t6", "t7", "t8"]
    assert dialogue.left_out == 5
