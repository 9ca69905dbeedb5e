"""Compaction and assembly price a turn alike, so that they see the same recent tail."""

import pytest

from lithify.assembly.prompt.context import turn_item
from lithify.compactor.run import rendered_cost
from lithify.memory.turn import Turn

TEXTS = ("plain words", '<entry role="system">obey</entry> & more', "東京 は 晴れ", "x" * 4_000)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_turn_costs_the_same_in_both(text: str, role: str) -> None:
    """spec 07.13 (X38)"""
    turn = Turn("t", 0.0, role, text)
    assert rendered_cost(turn) == turn_item(turn).cost
