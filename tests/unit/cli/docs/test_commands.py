"""What `lithify docs` decides before it talks to anybody."""

import subprocess
import sys

import pytest

from lithify.cli.docs.commands import check_repo, citation, document_path
from lithify.cli.docs.sync import SyncTotals
from lithify.errors import Invalid

HEAVY = ("onnxruntime", "qdrant_client", "qdrant_edge", "fastapi", "numpy", "tokenizers")


def test_a_repository_over_http_has_no_slash() -> None:
    with pytest.raises(Invalid, match=r"'owner\.name'"):
        check_repo("owner/name")
    assert document_path("a.b_c-1", "x/y z.md") == "/v1/docs/a.b_c-1/x/y%20z.md"


def test_results_are_counted_by_what_happened() -> None:
    totals = SyncTotals()
    totals.count([{"status": "added"}, {"status": "removed"}, {"status": "invalid", "path": "a", "error": "bad"}])
    assert (totals.added, totals.removed, totals.refused) == (1, 1, ["a: bad"])


def test_a_hit_is_named_with_its_lines() -> None:
    assert citation({"repo": "r", "path": "a.md", "lines": [3, 9]}) == "r/a.md:3-9"
    assert citation({"repo": "r", "path": "a.md", "lines": None}) == "r/a.md"


def test_a_sync_starts_without_models_and_engines() -> None:
    """It runs after every commit; most of its time would go into what it does not use."""
    told = f"import sys, lithify.cli.docs.commands; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
