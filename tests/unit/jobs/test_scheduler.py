"""When periodic jobs are due, for any clock."""

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.errors import Invalid
from lithify.jobs import Schedule, daily, due_period

NOW = 1_700_049_600_000  # 2023-11-15 12:00 UTC
HOUR = 3_600_000

schedules = st.builds(
    lambda every, offset: Schedule("s", "q", "j", every, offset),
    st.integers(1, 40 * 24 * HOUR),
    st.integers(0, 24 * HOUR),
)
times = st.integers(NOW - 400 * 24 * HOUR, NOW + 400 * 24 * HOUR)


@given(schedules, times)
def test_a_period_is_the_piece_of_the_grid_around_now(schedule: Schedule, now: int) -> None:
    period = due_period(schedule, None, now)
    assert period is not None
    assert period <= now < period + schedule.every_ms
    assert (period - schedule.offset_ms) % schedule.every_ms == 0


@given(schedules, times, st.data())
def test_a_period_that_had_its_run_has_no_other(schedule: Schedule, now: int, data: st.DataObject) -> None:
    period = due_period(schedule, None, now)
    assert period is not None
    later = data.draw(st.integers(period, period + schedule.every_ms - 1))
    assert due_period(schedule, period, later) is None
    assert due_period(schedule, now, later) is None, "a last run noted by the hour of its run counts the same"


@given(schedules, st.lists(times, min_size=1).map(sorted))
def test_ticks_at_any_times_start_each_period_they_fall_into_once(schedule: Schedule, ticks: list[int]) -> None:
    last: int | None = None
    started: list[int] = []
    for now in ticks:
        if (period := due_period(schedule, last, now)) is not None:
            started.append(period)
            last = period
    assert started == list(dict.fromkeys(due_period(schedule, None, now) for now in ticks))


@given(schedules, times, st.data())
def test_a_clock_set_back_by_less_than_a_period_repeats_nothing(
    schedule: Schedule, now: int, data: st.DataObject
) -> None:
    period = due_period(schedule, None, now)
    assert period is not None
    back = data.draw(st.integers(0, schedule.every_ms - 1))
    assert due_period(schedule, period, now - back) is None


@given(schedules, times, st.data())
def test_a_clock_that_was_far_ahead_does_not_stop_a_schedule(schedule: Schedule, now: int, data: st.DataObject) -> None:
    ahead = data.draw(st.integers(schedule.every_ms + 1, 100 * schedule.every_ms))
    assert due_period(schedule, now + ahead, now) == due_period(schedule, None, now)


def test_a_daily_job_is_due_at_its_time_of_utc() -> None:
    schedule = daily("night", "q", "sweep", time(3, 15, 30))
    last = due_period(schedule, None, NOW)
    assert last == NOW - 12 * HOUR + (3 * 3600 + 15 * 60 + 30) * 1000
    next_morning = last + 24 * HOUR
    assert due_period(schedule, last, next_morning - 1) is None
    assert due_period(schedule, last, next_morning) == next_morning


@pytest.mark.parametrize("every_ms", [0, -1])
def test_a_schedule_without_an_interval_is_refused(every_ms: int) -> None:
    with pytest.raises(Invalid, match="schedule s must have an interval"):
        Schedule("s", "q", "j", every_ms)
