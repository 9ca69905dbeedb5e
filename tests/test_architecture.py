"""Guards docs/architecture.md and CONTRIBUTING.md: the files, keys and packages they name exist, none is missing."""

import re
from pathlib import Path

import pytest

from lithify.streams import keys

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"]
PATH = re.compile(r"`((?:shared|services|workers|tests|deploy|models|docs)/[\w./-]+)`")
KEY_MAKERS = re.compile(r"^def ([a-z]\w*)\([^)]*\) -> str:", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_named_file_exists(page: Path) -> None:
    named = PATH.findall(page.read_text("utf-8"))
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_redis_key_has_its_row() -> None:
    """`matching`, `kind_of` and the like read names, they make none."""
    source = Path(keys.__file__).read_text("utf-8")
    makers = set(KEY_MAKERS.findall(source)) - {"matching", "kind_of"}
    table = PAGES[0].read_text("utf-8").partition("## Redis keys")[2].partition("## ")[0]
    assert "turns" in makers
    assert not [maker for maker in makers if f"`{maker}`" not in table]


def test_every_package_has_its_place_among_the_layers() -> None:
    packages = {
        path.name
        for root in ("shared", "services", "workers")
        for path in (ROOT / root / "lithify").iterdir()
        if (path / "__init__.py").exists()
    }
    graph = PAGES[0].read_text("utf-8").partition("## Which package")[2].partition("```")[2].partition("```")[0]
    assert not [name for name in packages if not re.search(rf"\b{name}\b", graph)]
