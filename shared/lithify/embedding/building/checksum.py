"""Guards against weights other than the ones a profile was made for."""

from pathlib import Path

from lithify.embedding.fingerprint import file_digest
from lithify.errors import Invalid


def check_sha256(path: Path, expected: str) -> None:
    """Raises Invalid if the file is missing or has other content."""
    try:
        found = file_digest(path).hex()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error}") from error
    if found != expected:
        raise Invalid(f"{path} is not the expected file: its sha256 is {found}, it should be {expected}")
