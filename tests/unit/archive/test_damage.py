"""What is cut off or corrupt is told with its place; what is whole is read all the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.archive import Findings
from lithify.archive.block import encode_block
from lithify.archive.segment import parse_segment
from tests.unit.archive.archive_parts import archived_ids, line, only_segment, open_writer

NAMES = [f"e{n}" for n in range(6)]


def blocks_of(*names: str) -> list[bytes]:
    return [encode_block([line(name).data]) for name in names]


CLEAN = b"".join(blocks_of(*NAMES))


def sealed_archive(archive: Path) -> Path:
    """One block per event."""
    writer = open_writer(archive)
    for number, name in enumerate(NAMES):
        writer.append([line(name, number)])
    writer.close()
    return only_segment(archive)


def left_open(archive: Path) -> Path:
    """As a killed process leaves it: the same blocks, no footer."""
    path = sealed_archive(archive)
    path.write_bytes(parse_segment(path.read_bytes()).body)
    return path


def test_a_segment_cut_at_any_byte_holds_every_block_before_the_cut() -> None:
    blocks = blocks_of("a", "b", "c")
    data = b"".join(blocks)
    ends = [sum(map(len, blocks[: n + 1])) for n in range(3)]
    for cut in range(len(data)):
        segment = parse_segment(data[:cut])
        whole = [end for end in ends if end <= cut]
        assert [block.end for block in segment.blocks] == whole
        assert segment.torn == cut - (whole[-1] if whole else 0)
        assert not segment.flaws


def test_reopening_cuts_off_a_torn_tail_and_seals_the_rest(tmp_path: Path) -> None:
    path = left_open(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + blocks_of("torn")[0][:-3])
    findings = Findings()
    assert archived_ids(tmp_path, findings) == NAMES
    assert findings.torn_bytes == len(blocks_of("torn")[0]) - 3
    assert not findings.damage

    open_writer(tmp_path).close()
    segment = parse_segment(path.read_bytes())
    assert segment.manifest is not None
    assert segment.manifest.count == len(NAMES)
    assert segment.body == whole
    assert archived_ids(tmp_path) == NAMES


def test_a_footer_cut_at_any_byte_is_made_again(tmp_path: Path) -> None:
    path = sealed_archive(tmp_path)
    sealed = path.read_bytes()
    for cut in range(parse_segment(sealed).body_end, len(sealed)):
        path.write_bytes(sealed[:cut])
        assert archived_ids(tmp_path) == NAMES
        open_writer(tmp_path).close()
        assert path.read_bytes() == sealed


def test_a_segment_that_never_got_a_whole_block_disappears(tmp_path: Path) -> None:
    path = left_open(tmp_path)
    path.write_bytes(path.read_bytes()[:20])
    open_writer(tmp_path).close()
    assert not path.exists()


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "open"])
@pytest.mark.parametrize("place", ["head", "content"])
def test_damage_in_the_middle_is_told_with_file_and_offset_and_costs_that_block_only(
    tmp_path: Path, sealed: bool, place: str
) -> None:
    path = sealed_archive(tmp_path) if sealed else left_open(tmp_path)
    data = bytearray(path.read_bytes())
    victim = parse_segment(bytes(data)).blocks[2]
    data[victim.offset + 5 if place == "head" else victim.end - 5] ^= 0xFF
    path.write_bytes(data)

    findings = Findings()
    assert archived_ids(tmp_path, findings) == [name for name in NAMES if name != "e2"]
    [damage] = findings.damage
    assert (damage.path, damage.offset, damage.length) == (path, victim.offset, victim.end - victim.offset)
    assert str(path) in str(damage)
    assert str(victim.offset) in str(damage)


def test_bytes_missing_in_the_middle_cost_one_block_only(tmp_path: Path) -> None:
    path = sealed_archive(tmp_path)
    data = path.read_bytes()
    victim = parse_segment(data).blocks[3]
    path.write_bytes(data[: victim.end - 9] + data[victim.end - 2 :])
    assert archived_ids(tmp_path) == [name for name in NAMES if name != "e3"]


def test_a_removed_block_is_noticed_though_the_others_are_whole(tmp_path: Path) -> None:
    path = sealed_archive(tmp_path)
    data = path.read_bytes()
    victim = parse_segment(data).blocks[1]
    path.write_bytes(data[: victim.offset] + data[victim.end :])
    findings = Findings()
    assert archived_ids(tmp_path, findings) == [name for name in NAMES if name != "e1"]
    assert [damage.reason for damage in findings.damage] == ["every block is whole, but the footer was made for others"]


def test_sealing_a_damaged_leftover_keeps_what_is_readable_and_the_report(tmp_path: Path) -> None:
    path = left_open(tmp_path)
    data = bytearray(path.read_bytes())
    data[parse_segment(bytes(data)).blocks[2].end - 5] ^= 0xFF
    path.write_bytes(data)
    open_writer(tmp_path).close()
    findings = Findings()
    assert archived_ids(tmp_path, findings) == [name for name in NAMES if name != "e2"]
    assert len(findings.damage) == 1


@given(changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=5))
def test_corruption_anywhere_costs_the_blocks_it_hits_and_invents_nothing(changes: list[tuple[float, int]]) -> None:
    data = bytearray(CLEAN)
    for place, value in changes:
        data[int(place * len(data))] = value
    segment = parse_segment(bytes(data))
    assert set(segment.lines()) <= {line(name).data for name in NAMES}
    assert len(segment.blocks) >= len(NAMES) - len(changes)
