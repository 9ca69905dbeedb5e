"""Names, sizes and hashes of authored documents."""

import hashlib

import pytest

from lithify.authored.document import MAX_BYTES, MAX_NODES, TooLarge, check_name, content_hash, read_parts
from lithify.errors import Invalid


@pytest.mark.parametrize("name", ["AGENTS.md", "notes/2024/Ünï côde.md", "a..b", "x" * 200])
def test_ordinary_names_and_paths_are_accepted(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", " ", " a.md", "a\nb", "a#000001", "/etc/passwd", "a//b", "a/", "../a", "a/./b", "a/..", "a\\b", "x" * 201],
)
def test_names_that_could_pass_for_another_record_or_place_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="name:"):
        check_name(name)


def test_the_hash_is_the_standard_one_and_carries_its_name() -> None:
    """spec 11.8 (X63)"""
    assert content_hash(b"") == f"sha256:{hashlib.sha256().hexdigest()}"
    assert content_hash(b"a") == f"sha256:{hashlib.sha256(b'a').hexdigest()}"


def test_a_document_of_the_largest_size_is_read_and_one_byte_more_is_not() -> None:
    raw = b"x" * MAX_BYTES
    assert len(read_parts(raw, "a.md", core=True).nodes) == 1
    with pytest.raises(TooLarge, match=rf"a\.md has {MAX_BYTES + 1} bytes, {MAX_BYTES} are allowed"):
        read_parts(raw + b"x", "a.md", core=True)


def test_more_pieces_than_can_be_embedded_in_time_are_refused() -> None:
    items = b"- x\n" * MAX_NODES
    assert len(read_parts(items, "a.md", core=False).nodes) == MAX_NODES
    with pytest.raises(TooLarge, match=f"has {MAX_NODES + 1} blocks and list items"):
        read_parts(items + b"- x\n", "a.md", core=False)
