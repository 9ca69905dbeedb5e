"""Guards the shape of the repository: one namespace over three roots, and a closed top level."""

import ast
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOTS = ("shared", "services", "workers")
TOP_LEVEL = {
    *ROOTS,
    *("tests", "deploy", "models", "docs"),
    *("pyproject.toml", "compose.yaml", "requirements.lock", "requirements-dev.lock", "Makefile"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".ci", ".github", ".gitignore"),
}
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40
# Irregular participles; the regular ones end in "ed".
PARTICIPLES = {
    *(
        "begun",
        "bound",
        "brought",
        "built",
        "chosen",
        "cut",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "grown",
        "heard",
    ),
    *(
        "held",
        "hidden",
        "kept",
        "known",
        "left",
        "lost",
        "made",
        "met",
        "said",
        "seen",
        "sent",
        "shown",
        "sold",
        "spoken",
    ),
    *("spread", "taken", "thought", "told", "written"),
}
# Verbs that only look like participles, a stream (`stored`), the rest of a deadline (`left`), and one like `sorted`.
NO_PARTICIPLES = {"batched", "cut", "embed", "exceed", "left", "need", "proceed", "reembed", "stored", "succeed"}


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [Path(line) for line in listed.stdout.splitlines()]


def sources() -> list[Path]:
    return [path for root in ROOTS for path in (ROOT / root / "lithify").rglob("*.py")]


@pytest.mark.parametrize("root", ROOTS)
def test_namespace_root_has_no_init(root: str) -> None:
    assert not (ROOT / root / "__init__.py").exists()
    assert not (ROOT / root / "lithify" / "__init__.py").exists()


@pytest.mark.parametrize("root", ROOTS)
def test_every_package_is_typed_and_regular(root: str) -> None:
    packages = {path.parent for path in (ROOT / root / "lithify").rglob("*.py")}
    assert packages
    for package in packages:
        assert (package / "__init__.py").exists(), package
        assert (package / "py.typed").exists(), package


def test_no_package_lives_in_two_roots() -> None:
    names = [p.name for root in ROOTS for p in (ROOT / root / "lithify").iterdir() if p.name != "__pycache__"]
    assert sorted(names) == sorted(set(names))


def test_top_level_stays_closed() -> None:
    assert {path.parts[0] for path in tracked()} <= TOP_LEVEL


def test_files_stay_small() -> None:
    python = [path for path in tracked() if path.suffix == ".py"]
    long = {str(p): n for p in python if (n := len((ROOT / p).read_text("utf-8").splitlines())) > MAX_FILE_LINES}
    assert not long


def function_sizes() -> dict[str, int]:
    sizes = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                sizes[f"{path.relative_to(ROOT)}:{node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return sizes


def test_functions_stay_short() -> None:
    sizes = function_sizes()
    assert not {name: n for name, n in sizes.items() if n > MAX_FUNCTION_LINES}
    assert sorted(sizes.values())[len(sizes) // 2] <= 10


def test_every_module_says_why_it_exists() -> None:
    silent = [str(p.relative_to(ROOT)) for p in sources() if not ast.get_docstring(ast.parse(p.read_text("utf-8")))]
    assert not silent


def test_a_public_class_name_is_defined_once() -> None:
    """Whoever searches for a class finds one; the client and the schemas repeat names of the HTTP interface."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources():
        if "client" in path.parts or "schema" in path.name:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not {name: found for name, found in places.items() if len(found) > 1}


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and "property" in mark.id for mark in function.decorator_list)


def is_participle(name: str) -> bool:
    word = name.strip("_")
    regular = word.endswith("ed") and len(word) > 4 and "_" not in word
    return word not in NO_PARTICIPLES and (regular or word in PARTICIPLES)


def test_no_function_is_named_by_a_bare_participle() -> None:
    """A function is a verb: `told` and `judged` do not say what happens. Properties may say how something is."""
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_participle(node.name)
        and not is_property(node)
    ]
    assert not named
