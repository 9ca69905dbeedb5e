"""Large downloads continue where they stopped and are never accepted with other bytes."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lithify.embedding.building.download import download
from lithify.errors import Invalid, Unavailable
from tests.silent_progress import SilentProgress
from tests.unit.embedding.building.file_server import FileServer, serving

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Meter(SilentProgress):
    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def advance(self, done: int, total: int) -> None:
        self.seen.append((done, total))


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving(CONTENT) as state:
        yield state


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "weights.gguf"


def part_of(target: Path) -> Path:
    return target.with_name("weights.gguf.part")


def test_a_file_arrives_whole_and_its_progress_is_told(server: FileServer, target: Path) -> None:
    meter = Meter()
    download(server.url, target, SHA256, meter)
    assert target.read_bytes() == CONTENT
    assert not part_of(target).exists()
    assert meter.seen[-1] == (len(CONTENT), len(CONTENT))


def test_redirects_are_followed(server: FileServer, target: Path) -> None:
    download(server.url.replace("/file", "/moved"), target, SHA256, SilentProgress())
    assert target.read_bytes() == CONTENT


def test_a_broken_connection_is_continued_from_where_it_broke(server: FileServer, target: Path) -> None:
    server.break_after = 100_000
    meter = Meter()
    download(server.url, target, SHA256, meter)
    assert target.read_bytes() == CONTENT
    assert server.asked[0] is None
    assert server.asked[1] is not None
    assert 0 < int(server.asked[1].removeprefix("bytes=").rstrip("-")) <= 100_000
    assert meter.seen[-1] == (len(CONTENT), len(CONTENT))


def test_an_earlier_run_is_continued(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(CONTENT[:1234])
    download(server.url, target, SHA256, SilentProgress())
    assert server.asked == ["bytes=1234-"]
    assert target.read_bytes() == CONTENT


def test_a_server_without_ranges_starts_over(server: FileServer, target: Path) -> None:
    server.ranges = False
    part_of(target).write_bytes(CONTENT[:1234])
    download(server.url, target, SHA256, SilentProgress())
    assert target.read_bytes() == CONTENT


def test_a_part_that_is_already_complete_is_accepted(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(CONTENT)
    download(server.url, target, SHA256, SilentProgress())
    assert target.read_bytes() == CONTENT


def test_other_bytes_are_refused_and_not_continued_later(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(b"something else")
    with pytest.raises(Invalid, match=f"it should be {SHA256}"):
        download(server.url, target, SHA256, SilentProgress())
    assert not target.exists()
    assert not part_of(target).exists()


def test_a_refusal_is_told_with_its_number(server: FileServer, target: Path) -> None:
    with pytest.raises(Unavailable, match="answers 404"):
        download(server.url + "/nowhere", target, SHA256, SilentProgress())


def test_an_unreachable_server_keeps_what_was_downloaded(target: Path) -> None:
    with serving(CONTENT) as gone:
        url = gone.url
    part_of(target).write_bytes(CONTENT[:1234])
    with pytest.raises(Unavailable, match="run the command again to continue"):
        download(url, target, SHA256, SilentProgress())
    assert part_of(target).read_bytes() == CONTENT[:1234]
