"""A rebuild's checkpoint is read back as written, and a damaged one is told with the way out."""

from pathlib import Path

import pytest

from lithify.archive.checkpoint import FILE, Checkpoint, RebuildStep, clear_checkpoint
from lithify.errors import Misconfigured


@pytest.mark.parametrize("step", list(RebuildStep))
def test_a_checkpoint_is_read_back_as_written(tmp_path: Path, step: RebuildStep) -> None:
    checkpoint = Checkpoint("memories-rebuild-1", "model-a", step)
    checkpoint.write(tmp_path)
    assert Checkpoint.read(tmp_path) == checkpoint
    clear_checkpoint(tmp_path)
    assert Checkpoint.read(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"collection":"c","fingerprint":"f","step":"dancing"}'])
def test_a_damaged_checkpoint_is_told_with_the_way_out(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(Misconfigured, match=r"damaged.*remove it"):
        Checkpoint.read(tmp_path)
