"""The signals of the gate and its own length estimate (specs 02 and 04)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lithify.memory.prompt.budget
from lithify.memory.gating.gate import gate
from lithify.memory.gating.signals import gate_length, input_frequency, novelty, repetition, saturation


@pytest.mark.parametrize(
    ("text", "length"),
    [("", 1), ("abcd", 1), ("abcdefg", 1), ("abcdefgh", 2), ("東京駅前広場大阪", 2), ("green boats", 2)],
)
def test_gate_estimator_counts_code_points(text: str, length: int) -> None:
    """spec 02.10"""
    assert gate_length(text) == length


def sources() -> Iterator[Path]:
    shared = Path(lithify.memory.prompt.budget.__file__).parents[2]
    for root in (shared, *(shared.parents[1] / part / "lithify" for part in ("services", "workers"))):
        yield from root.rglob("*.py")


def names_in(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    imported = {alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return {part for name in modules | imported | used for part in name.split(".")}


def test_only_the_gate_knows_the_gate_estimator() -> None:
    """spec 02.15"""
    gate = re.compile(r"(gate|gating)(_\w+)?|gatekeeper")
    users = [path for path in sources() if "gate_length" in names_in(path)]
    assert [path for path in users if not gate.fullmatch(path.stem) and not gate.fullmatch(path.parent.name)] == []
    assert len(list(sources())) > 20


def test_static_check_sees_every_way_to_name_the_estimator(tmp_path: Path) -> None:
    for number, code in enumerate(
        (
            "from lithify.memory.gating.signals import gate_length",
            "import lithify.memory.gating.signals as g\ng.gate_length('')",
            "gate_length('')",
        )
    ):
        path = tmp_path / f"{number}.py"
        path.write_text(code)
        assert "gate_length" in names_in(path)


def test_novelty_is_full_without_close_memories() -> None:
    """spec 04.1"""
    assert novelty([]) == 1.0
    assert novelty([0.0, -0.4, -1.0]) == 1.0
    assert novelty([0.75, -0.25]) == 0.625


def test_saturation_vetoes_repetition() -> None:
    """spec 04.2"""
    assert saturation([0.85] * 3) == 1.0
    assert [repetition(frequency, 1.0) for frequency in (0.0, 0.2, 1.0)] == [0.0, 0.0, 0.0]
    assert saturation([0.9, 0.85, 0.5]) == pytest.approx(2 / 3)
    twice_known = gate("hello", [0.9] * 5, [0.9, 0.9])
    assert twice_known.input_freq == 1.0
    assert twice_known.r == pytest.approx(1 / 3)


def test_hit_thresholds_are_inclusive() -> None:
    """spec 04.3"""
    assert input_frequency([0.80, 0.7999]) == pytest.approx(1 / 5)
    assert saturation([0.85, 0.8499]) == pytest.approx(1 / 3)


def test_two_strongest_technical_patterns_do_not_saturate() -> None:
    """spec 04.8"""
    assert gate("```\ntraceback\n```", [], []).t == pytest.approx(0.666667, abs=1e-6)


def test_specificity_is_diluted_by_length() -> None:
    """spec 04.9"""
    short = "See src/a/b.py."
    assert gate(short, [], []).p == pytest.approx(0.7)
    assert gate(short + " word" * 200, [], []).p == pytest.approx(0.276680, abs=1e-6)


def test_specificity_is_diluted_only_above_one_hundred_units() -> None:
    short = "See src/a/b.py."
    assert gate(short.ljust(403, "x"), [], []).p == pytest.approx(0.7)
    assert gate(short.ljust(404, "x"), [], []).p == pytest.approx(0.7 / 1.01)
