"""Figures are read once for everybody, and rates come from what was read before."""

from typing import cast

import pytest

from lithify.dashboard.board import make_board, shape_of
from lithify.monitoring.figures import Figures, PipelineReader
from lithify.monitoring.pulse import Moment, Pulse, Throughput, follows, moment_of, series, throughput
from tests.unit.monitoring.figures_parts import figures, group, heartbeat, stream


class Script:
    """Stands for the instruments: the next figures of a list at each reading."""

    def __init__(self, *readings: Figures) -> None:
        self.left = list(readings)

    async def read(self) -> Figures:
        return self.left.pop(0)


def pulse_of(script: Script, now: list[float]) -> Pulse:
    return Pulse(cast("PipelineReader", script), lambda: now[0])


async def test_whoever_looks_within_the_same_second_shares_one_reading() -> None:
    now = [0.0]
    script = Script(figures(at=0), figures(at=1_000))
    pulse = pulse_of(script, now)
    first = await pulse.read()
    now[0] = 0.5
    assert await pulse.read() is first
    now[0] = 1.0
    assert (await pulse.read()).figures.at == 1_000
    assert script.left == []


def test_searchable_is_what_was_accepted_and_no_longer_waits_for_embedding() -> None:
    read = figures(stream(group(unread=3, pending=2), group("archive", unread=50), added=100), at=7)
    assert moment_of(read) == Moment(7, 100, 95)


def test_rates_are_differences_over_time() -> None:
    history = [Moment(0, 100, 90), Moment(2_000, 120, 120), Moment(4_000, 120, 120)]
    assert throughput(history) == Throughput(5.0, 7.5)
    assert series(history) == [Throughput(10.0, 15.0), Throughput(0.0, 0.0)]
    assert throughput(history[:1]) == Throughput(None, None)


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (Moment(0, 10, 10), Moment(1_000, 11, 10), True),
        (Moment(0, 10, 10), Moment(1_000, 3, 3), False),
        (Moment(0, 10, 10), Moment(60_000, 12, 12), False),
        (Moment(5, 10, 10), Moment(5, 10, 10), False),
    ],
    ids=["later", "emptied server", "nobody looked", "same moment"],
)
def test_no_line_is_drawn_over_a_gap(earlier: Moment, later: Moment, expected: bool) -> None:
    assert follows(later, earlier) is expected


async def test_an_emptied_server_starts_a_new_history() -> None:
    now = [0.0]
    pulse = pulse_of(Script(figures(stream(added=9), at=0), figures(stream(added=1), at=1_000)), now)
    await pulse.read()
    now[0] = 2.0
    assert len((await pulse.read()).history) == 1


async def test_every_state_on_the_board_has_its_words_and_rows_that_come_change_its_shape() -> None:
    async def board(*streams: str) -> tuple[dict[str, str], dict[str, str], str]:
        groups = [stream(group(name), partition=place) for place, name in enumerate(streams)]
        read = figures(*groups, workers=(heartbeat(ready=False),), dead=2)
        drawn = make_board(await pulse_of(Script(read), [0.0]).read())
        return drawn.words, drawn.states, drawn.shape

    words, states, shape = await board("embed")
    assert words["stage.embed.state"] == "● clear"
    assert words["worker.embed.w-0.state"] == "■ not reading"
    assert (words["dead.count"], states["dead"]) == ("2", "behind")
    assert (await board("embed"))[2] == shape
    assert (await board("embed", "embed"))[2] != shape
    assert shape_of(["a", "b"]) == shape_of(["b", "a"])
