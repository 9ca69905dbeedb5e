"""The GGUF reader, on files written here byte by byte."""

import struct
from pathlib import Path

import numpy as np
import pytest

from lithify.embedding.building.gguf import read_gguf
from lithify.errors import Misconfigured

F32, F16, Q4_0 = 0, 1, 2


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def place(name: str, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    """The file has the innermost axis first."""
    axes = struct.pack(f"<{len(shape)}Q", *reversed(shape))
    return text(name) + struct.pack("<I", len(shape)) + axes + struct.pack("<IQ", kind, offset)


def gguf(values: list[bytes], places: list[bytes], data: bytes, version: int = 3, alignment: int = 32) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(places), len(values)) + b"".join(values) + b"".join(places)
    return head + b"\0" * (-len(head) % alignment) + data


def written(folder: Path, content: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(content)
    return path


def test_values_of_every_kind_are_read(tmp_path: Path) -> None:
    values = [
        entry("name", 8, text("nomic-bert")),
        entry("count", 4, struct.pack("<I", 12)),
        entry("below", 11, struct.pack("<q", -5)),
        entry("base", 6, struct.pack("<f", 1000.0)),
        entry("causal", 7, struct.pack("<?", False)),
        entry("tokens", 9, struct.pack("<IQ", 8, 2) + text("[PAD]") + text("\u2581the")),
    ]
    content = read_gguf(written(tmp_path, gguf(values, [], b"")))
    assert content.metadata == {
        "name": "nomic-bert",
        "count": 12,
        "below": -5,
        "base": 1000.0,
        "causal": False,
        "tokens": ["[PAD]", "\u2581the"],
    }
    assert content.array("tokens") == ["[PAD]", "\u2581the"]
    with pytest.raises(Misconfigured, match="has no list merges"):
        content.array("merges")


@pytest.mark.parametrize("alignment", [32, 64])
def test_tensors_are_found_at_their_offsets_with_numpys_axes(tmp_path: Path, alignment: int) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    half = np.array([0.5, -1.5], np.float16)
    values = [entry("general.alignment", 4, struct.pack("<I", alignment))]
    places = [place("matrix", (2, 3), F32, 0), place("half", (2,), F16, 64)]
    data = matrix.tobytes().ljust(64, b"\0") + half.tobytes()
    tensors = read_gguf(written(tmp_path, gguf(values, places, data, alignment=alignment))).tensors
    np.testing.assert_array_equal(tensors["matrix"], matrix)
    np.testing.assert_array_equal(tensors["half"], half)
    assert tensors["half"].dtype == np.float16


GOOD = gguf([entry("name", 8, text("x"))], [place("t", (4,), F32, 0)], np.ones(4, np.float32).tobytes())


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "cannot be read as GGUF"),
        (b"PK\x03\x04 something else", "does not begin with GGUF"),
        (gguf([], [], b"", version=1), "version 1 is not one of"),
        (GOOD[:-4], "cannot be read as GGUF"),
        (GOOD[:30], "cannot be read as GGUF"),
        (gguf([entry("a", 8, struct.pack("<Q", 1 << 40))], [], b""), "beyond the end"),
        (gguf([entry("a", 99, b"")], [], b""), "unknown value type 99"),
        (gguf([entry("general.alignment", 4, struct.pack("<I", 0))], [], b""), "alignment 0"),
        (gguf([], [place("t", (32,), Q4_0, 0)], b"\0" * 32), "tensor t is quantised"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint):
        read_gguf(written(tmp_path, content))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="No such file"):
        read_gguf(tmp_path / "nowhere.gguf")
