"""Reading gives every event once and in its newest form, with progress, in the order of the segments."""

from dataclasses import replace
from pathlib import Path

from lithify.archive import Findings, Rotation, encode_line, index_newest, read_archive, read_newest, rewrite
from lithify.archive.segment import segment_paths
from lithify.events import encode_event
from tests.unit.archive.archive_parts import STREAM, FakeClock, archived_ids, distinct_ids, event, line, open_writer


def test_an_empty_archive_has_no_events(tmp_path: Path) -> None:
    assert distinct_ids(tmp_path / "nowhere") == []


def test_segments_of_all_writers_are_read_in_the_order_they_were_begun(tmp_path: Path) -> None:
    clock = FakeClock()
    writers = [open_writer(tmp_path, name, clock, Rotation(max_bytes=1)) for name in ("z", "a")]
    for number, name in enumerate("abcd"):
        clock.now_ms += 1
        writers[number % 2].append([line(name)])
    for writer in writers:
        writer.close()
    assert archived_ids(tmp_path) == ["a", "b", "c", "d"]


def test_an_event_archived_twice_is_read_once(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a", 1), line("b", 2)])
    writer.append([line("a", 1), line("c", 3)])
    writer.close()
    assert distinct_ids(tmp_path) == ["a", "b", "c"]


def test_events_of_two_tenants_with_one_id_are_two(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a", tenant="t1"), line("a", tenant="t2")])
    writer.close()
    assert distinct_ids(tmp_path) == ["a", "a"]


def test_of_an_event_accepted_anew_the_later_form_is_read_wherever_it_lies(tmp_path: Path) -> None:
    clock = FakeClock()
    for number, text in ((5, "later"), (2, "earlier")):
        clock.now_ms += 1
        writer = open_writer(tmp_path, clock=clock)
        writer.append([line("a", number, text=text)])
        writer.close()
    assert [event.text for event in read_newest(tmp_path, index_newest(tmp_path), Findings())] == ["later"]


def test_an_event_accepted_anew_stands_where_it_first_stood(tmp_path: Path) -> None:
    again = replace(event("a", text="later"), ts=9_000)
    elsewhere = replace(event("b", text="elsewhere", user="other"), ts=9_000)
    writer = open_writer(tmp_path)
    writer.append([line("a", 2), line("b", 3), line("c", 4)])
    writer.append([encode_line(STREAM, "1005-0", 61, encode_event(again))])
    writer.append([encode_line(STREAM, "1006-0", 62, encode_event(elsewhere))])
    writer.close()
    found = {one.event_id: one for one in read_newest(tmp_path, index_newest(tmp_path), Findings())}
    assert (found["a"].text, found["a"].seq, found["a"].ts) == ("later", 2, 1_000)
    assert (found["b"].text, found["b"].seq, found["b"].ts) == ("elsewhere", 62, 9_000), "another user's turn"
    assert found["c"].seq == 4


def test_what_is_appended_during_the_reading_is_read_too(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a", 1)])
    newest = index_newest(tmp_path)
    writer.append([line("a", 7, text="newer"), line("b", 8)])
    assert [event.text for event in read_newest(tmp_path, newest, Findings())] == ["hello", "newer", "hello"]
    assert len(newest) == 2
    writer.close()


def test_a_segment_that_is_rewritten_away_during_the_reading_is_no_error(tmp_path: Path) -> None:
    writer = open_writer(tmp_path, rotation=Rotation(max_bytes=1))
    for name in "abc":
        writer.append([line(name)])
    writer.close()
    reading = read_archive(tmp_path, Findings())
    assert next(reading).event.event_id == "a"
    rewrite(tmp_path, lambda event: event.event_id != "b")
    assert [archived.event.event_id for archived in reading] == ["c"]


def test_progress_ends_with_all_bytes(tmp_path: Path) -> None:
    writer = open_writer(tmp_path, rotation=Rotation(max_bytes=1))
    for name in "abc":
        writer.append([line(name)])
    writer.close()
    told: list[tuple[int, int]] = []
    list(read_archive(tmp_path, Findings(), lambda done, total: told.append((done, total))))
    size = sum(path.stat().st_size for path in segment_paths(tmp_path))
    assert [total for _, total in told] == [size] * 3
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (size, size)


def test_a_line_of_a_newer_release_is_told_and_its_neighbours_are_read(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a"), encode_line("s", "5-0", 1, b'{"v":99}'), line("b")])
    writer.close()
    findings = Findings()
    assert archived_ids(tmp_path, findings) == ["a", "b"]
    assert "version 99" in findings.damage[0].reason
