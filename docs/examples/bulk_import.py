"""Old conversations from a JSON-lines file, in batches; what is refused is reported and does not stop the rest."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from lithify.client import Memory, Turn

URL = os.environ.get("LITHIFY_URL", "http://127.0.0.1:8420")
KEY = os.environ.get("LITHIFY_API_KEY")
BATCH = 256  # the service takes up to 512 turns at once


def read_turns(file: Path) -> Iterator[Turn]:
    """Yields one turn a line: {"event_id", "user", "session", "role", "text", "ts"}."""
    for line in file.read_text("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def import_file(memory: Memory, file: Path) -> int:
    """Sends every turn of the file and returns how many were refused; repeating it stores nothing twice."""
    turns = list(read_turns(file))
    refused = 0
    for start in range(0, len(turns), BATCH):
        result = memory.ingest_batch(turns[start : start + BATCH])
        refused += result.rejected
        for item in result.results:
            for error in item.errors or ():
                print(f"line {start + item.index + 1}: {error.field}: {error.message}", file=sys.stderr)
        print(f"{start + len(result.results)} of {len(turns)}: {result.accepted} new, {result.duplicate} known")
    return refused


def main(name: str) -> int:
    with Memory(URL, api_key=KEY) as memory:
        return 1 if import_file(memory, Path(name)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
