"""Brings a snapshot from a Qdrant server to a folder here, and leaves none behind on the server."""

import hashlib
from pathlib import Path
from typing import Final

import httpx

from lithify.errors import Unavailable

# The server copies the whole collection before it answers.
TIMEOUT: Final = httpx.Timeout(30.0, read=600.0)


async def fetch_snapshot(http: httpx.AsyncClient, records: str, folder: Path) -> Path:
    """Restore it with Qdrant's own upload of snapshots."""
    answer = await http.post(f"/collections/{records}/snapshots", params={"wait": "true"})
    answer.raise_for_status()
    made = answer.json()["result"]
    remote = f"/collections/{records}/snapshots/{made['name']}"
    try:
        return await _download(http, remote, folder / made["name"], made.get("checksum"))
    finally:
        await http.delete(remote)


async def _download(http: httpx.AsyncClient, remote: str, target: Path, checksum: str | None) -> Path:
    folder_partial = target.with_name(f"{target.name}.partial")
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    async with http.stream("GET", remote) as answer:
        answer.raise_for_status()
        with folder_partial.open("wb") as file:
            async for chunk in answer.aiter_bytes():
                digest.update(chunk)
                file.write(chunk)
    if checksum not in (None, digest.hexdigest()):
        raise Unavailable(f"the snapshot {target.name} arrived damaged; try again")
    return folder_partial.rename(target)
