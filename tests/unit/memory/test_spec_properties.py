"""No numbered property of the specification may be without a test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
# spec -> the numbers of its properties that need no store
PROPERTIES: dict[int, tuple[int, ...]] = {
    2: tuple(range(1, 16)),
    3: tuple(range(1, 16)),
    4: tuple(range(1, 16)),
    5: tuple(range(1, 19)),
    6: tuple(range(1, 15)),
    7: tuple(range(1, 14)),
    8: tuple(range(1, 17)),
    9: tuple(range(1, 12)),  # 12 and 13 are of a section that is not built
    10: (6, 7, 8, 9, 10),
}
IN_DOCSTRING = re.compile(r"\bspec (\d\d)\.(\d+)\b")
IN_NAME = re.compile(r"spec_(\d\d)_(\d+)(?!\d)")


def claimed_properties(source: str) -> set[tuple[int, int]]:
    """(spec, number) of every property that a test function of this source names."""
    marks = set()
    for test in _test_functions(ast.parse(source)):
        marks.update(IN_DOCSTRING.findall(ast.get_docstring(test) or ""))
        marks.update(IN_NAME.findall(test.name))
    return {(int(spec), int(number)) for spec, number in marks}


def _test_functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """As pytest collects them: at the top of a module or directly in a test class."""
    classes = [node.body for node in module.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test")]
    for node in [*module.body, *(member for body in classes for member in body)]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


@pytest.fixture(scope="module")
def claimed() -> set[tuple[int, int]]:
    files = TESTS.rglob("test_*.py")
    return set().union(*(claimed_properties(file.read_text(encoding="utf-8")) for file in files))


@pytest.mark.parametrize("spec", PROPERTIES)
def test_every_property_is_claimed_by_a_test(spec: int, claimed: set[tuple[int, int]]) -> None:
    missing = [f"spec {spec:02}.{number}" for number in PROPERTIES[spec] if (spec, number) not in claimed]
    assert not missing, f"no test claims {', '.join(missing)}"


def test_claims_are_read_from_docstrings_and_names_of_collected_tests_only() -> None:
    source = '''
"""spec 01.1"""
def helper():
    """spec 01.2"""
def test_one():
    """spec 08.7, spec 08.12 and more"""
async def test_spec_03_4_holds():
    "no number here"
class TestMany:
    def test_two(self):
        """It holds (spec 02.9)."""
class Other:
    def test_three(self):
        """spec 01.3"""
def test_four():
    # spec 01.4
    def test_inner():
        """spec 01.5"""
'''
    assert claimed_properties(source) == {(8, 7), (8, 12), (3, 4), (2, 9)}
