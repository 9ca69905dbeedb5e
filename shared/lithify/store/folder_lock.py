"""One process per Edge folder: the engine in it is not shared."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from lithify.errors import Misconfigured

FILE: Final = "store.lock"


@dataclass(frozen=True, slots=True)
class FolderLock:
    """Held until released or until the process ends, however it ends."""

    descriptor: int

    @classmethod
    def take(cls, folder: Path) -> Self:
        descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(descriptor, 20).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise Misconfigured(
                f"the vector store in {folder} is in use by process {holder}; stop it, or choose another data folder"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        os.close(self.descriptor)
