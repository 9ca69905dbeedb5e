"""The image is built in stages from pinned things, and runs as nobody in particular."""

import re
import sys
from pathlib import Path

from tests.deploy.checking import DEPLOY, ROOT, accepted

DOCKERFILE = DEPLOY / "Dockerfile"
LINES = DOCKERFILE.read_text("utf-8").splitlines()


def arguments(instruction: str) -> list[str]:
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def test_hadolint_finds_nothing() -> None:
    accepted(Path(sys.executable).with_name("hadolint"), DOCKERFILE)


def test_stages_start_from_one_pinned_image() -> None:
    images = [image.split()[0] for image in arguments("FROM")]
    assert len(images) == 2
    assert len(set(images)) == 1
    assert re.search(r":\d+\.\d+\.\d+-", images[0])


def test_the_process_is_not_root() -> None:
    assert arguments("USER") == ["10001:10001"]


def test_dependencies_are_those_of_the_lock() -> None:
    assert any("--require-hashes -r requirements.lock" in command for command in arguments("RUN"))


def test_only_what_is_copied_is_sent_to_the_builder() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = {source for copy in arguments("COPY") if "--from" not in copy for source in copy.split()[:-1]}
    assert "*" in ignored
    assert sent == copied
    assert all((ROOT / source).exists() for source in copied)
