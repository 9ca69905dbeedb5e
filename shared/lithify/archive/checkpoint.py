"""Where a rebuild stands, on disk beside the archive, so that a killed one goes on and never switches back."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import orjson

from lithify.archive.durable import disk_errors, put_in_place, remove_file, write_file
from lithify.errors import Misconfigured

FILE: Final = "rebuild.json"


class RebuildStep(StrEnum):
    """The steps of a rebuild. While `switching` the names may or may not have changed places; the store tells which."""

    BUILDING = "building"
    SWITCHING = "switching"
    SETTLING = "settling"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`collection` is the name the new records are built under; after the switch it names the former ones."""

    collection: str
    fingerprint: str
    step: RebuildStep = RebuildStep.BUILDING

    @classmethod
    def read(cls, archive: Path) -> Self | None:
        try:
            raw = orjson.loads((archive / FILE).read_bytes())
            return cls(raw["collection"], raw["fingerprint"], RebuildStep(raw["step"]))
        except FileNotFoundError:
            return None
        except (ValueError, LookupError, TypeError) as error:
            raise Misconfigured(
                f"{archive / FILE} is damaged ({error}); remove it to start the rebuild anew"
            ) from error

    def write(self, archive: Path) -> None:
        fresh = archive / f"{FILE}.new"
        with disk_errors(archive):
            write_file(fresh, orjson.dumps(asdict(self)))
            put_in_place(fresh, archive / FILE)


def clear_checkpoint(archive: Path) -> None:
    with disk_errors(archive):
        remove_file(archive / FILE)
