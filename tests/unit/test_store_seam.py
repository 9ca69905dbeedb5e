"""Nobody but lithify.store talks to Qdrant, and inside it nothing but `scoped` makes a filter's conditions."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(file for part in ("shared", "services", "workers") for file in (ROOT / part).rglob("*.py"))
STORE = ROOT / "shared" / "lithify" / "store"
ENGINES = {"qdrant_client", "qdrant_edge"}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def called(tree: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls}


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(), str(file))


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", [f for f in SOURCES if STORE not in f.parents], ids=name_of)
def test_only_the_store_imports_an_engine(file: Path) -> None:
    assert not ENGINES & set(imported(parsed(file)))


@pytest.mark.parametrize("file", [f for f in SOURCES if f != STORE / "scoping.py"], ids=name_of)
def test_only_scoped_makes_conditions_for_an_engine(file: Path) -> None:
    assert "ScopedWhere" not in called(parsed(file))


@pytest.mark.parametrize("file", [f for f in STORE.glob("*.py") if not f.stem.endswith("_codec")], ids=name_of)
def test_only_the_codecs_make_filters(file: Path) -> None:
    assert not {"Filter", "FieldCondition"} & called(parsed(file))


def test_the_seam_is_where_this_test_looks() -> None:
    assert {name for file in STORE.glob("*.py") for name in imported(parsed(file))} & ENGINES == ENGINES
    assert "ScopedWhere" in called(parsed(STORE / "scoping.py"))
    assert "Filter" in called(parsed(STORE / "edge_codec.py"))
