"""Guards the references between code and docs/spec: what is cited can be opened, what is named exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SPEC = ROOT / "docs" / "spec"
CITING = ("shared", "services", "workers", "tests", "deploy", "docs")
SUFFIXES = {".py", ".lua", ".md", ".yaml"}

# "spec 05 §9" names a section, "spec 10, property 13" and "spec 05.13" a property, "X27" a decision.
SECTION = re.compile(r"\bspec (\d{2}) §(\d+)")
PROPERTY = re.compile(r"\bspec (\d{2})(?:,? propert(?:y|ies) |\.)(\d+)")
PAGE = re.compile(r"\bspec (\d{2})\b")
DECISION = re.compile(r"\bX(\d{2})\b")
HEADING = re.compile(r"^## (\d+)\. ", re.MULTILINE)
NAMED_FILE = re.compile(r"`((?:shared|services|workers)/lithify/[\w/.]+)`")


def citing_files() -> list[Path]:
    found = [path for top in CITING for path in (ROOT / top).rglob("*") if path.suffix in SUFFIXES]
    return [path for path in found if SPEC not in path.parents and path != Path(__file__)]


def page(number: str) -> str:
    return "".join(path.read_text("utf-8") for path in SPEC.glob(f"{number}-*.md"))


def sections(number: str) -> set[str]:
    return set(HEADING.findall(page(number)))


def properties(number: str) -> set[str]:
    """The numbers of the list at the end of a page."""
    listed = page(number).partition("## Properties a test must show")[2]
    return set(re.findall(r"^(\d+)\. ", listed, re.MULTILINE))


def citations(pattern: re.Pattern[str]) -> dict[tuple[str, ...], str]:
    """Every number that is cited, with a place that cites it."""
    cited = {}
    for path in citing_files():
        for match in pattern.finditer(path.read_text("utf-8")):
            cited[match.groups()] = str(path.relative_to(ROOT))
    return cited


def test_every_cited_page_exists() -> None:
    assert not {number: place for (number,), place in citations(PAGE).items() if not page(number)}


def test_every_cited_section_exists() -> None:
    cited = citations(SECTION)
    assert len(cited) > 20, "the pattern no longer finds the citations"
    assert not {key: place for key, place in cited.items() if key[1] not in sections(key[0])}


def test_every_cited_property_exists() -> None:
    cited = citations(PROPERTY)
    assert cited, "the pattern no longer finds the citations"
    assert not {key: place for key, place in cited.items() if key[1] not in properties(key[0])}


def test_every_cited_decision_has_its_line() -> None:
    decided = set(re.findall(r"^\| X(\d{2}) \|", (SPEC / "decisions.md").read_text("utf-8"), re.MULTILINE))
    assert decided == {f"{number:02}" for number in range(1, 67)}
    assert not {key: place for key, place in citations(DECISION).items() if key[0] not in decided}


@pytest.mark.parametrize("path", sorted(SPEC.glob("*.md")), ids=lambda path: path.stem)
def test_every_file_named_by_the_specification_exists(path: Path) -> None:
    assert not [name for name in NAMED_FILE.findall(path.read_text("utf-8")) if not (ROOT / name).exists()]


def test_every_page_is_in_the_index() -> None:
    index = (SPEC / "README.md").read_text("utf-8")
    assert not [path.name for path in SPEC.glob("[0-9]*.md") if f"({path.name})" not in index]
