"""Downloads a large file, picking up where an earlier attempt stopped."""

from pathlib import Path

import httpx

from lithify.embedding.building.checksum import check_sha256
from lithify.embedding.building.progress import Progress
from lithify.errors import Invalid, Unavailable

TIMEOUT = httpx.Timeout(60.0, connect=10.0)
ATTEMPTS = 5  # each continues the one before


def download(url: str, target: Path, sha256: str, progress: Progress) -> None:
    """`target` is complete and has the checksum on return; until then the bytes collect in `target.part`.

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


def _fetch(url: str, part: Path, progress: Progress) -> None:
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


def _append(response: httpx.Response, part: Path, have: int, progress: Progress) -> None:
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
