"""An outage of Redis is told apart from errors of ours."""

import pytest
from redis import exceptions

from lithify.errors import Overloaded, Unavailable
from lithify.streams.outage import GroupMissing, backoff_ms, outages


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ConnectionError("refused"),
        exceptions.TimeoutError("late"),
        exceptions.BusyLoadingError("loading"),
        exceptions.ReadOnlyError("replica"),
        exceptions.AuthenticationError("invalid username-password pair or user is disabled"),
        exceptions.NoPermissionError("this user has no permissions to run the 'xack' command"),
        exceptions.ResponseError("ERR Error running script: NOPERM this user has no permissions"),
        exceptions.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"),
        exceptions.ResponseError("BUSY Redis is busy running a script"),
    ],
)
def test_a_server_that_cannot_serve_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable), outages():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'"),
        exceptions.ResponseError("ERR Error running script (call to f_1): @user_script:1: OOM command not allowed"),
    ],
)
def test_a_server_without_memory_is_overloaded_which_consumers_wait_out_like_any_outage(error: Exception) -> None:
    with pytest.raises(Overloaded) as caught, outages():
        raise error
    assert isinstance(caught.value, Unavailable)
    assert caught.value.retry_after_s > 0


def test_a_lost_group_is_told_apart() -> None:
    with pytest.raises(GroupMissing), outages():
        raise exceptions.ResponseError("Command # 1 of pipeline caused error: NOGROUP No such key")


@pytest.mark.parametrize(
    "error", [exceptions.ResponseError("BUSYGROUP exists"), exceptions.ResponseError("WRONGTYPE"), KeyError("x")]
)
def test_other_errors_pass(error: Exception) -> None:
    with pytest.raises(type(error)), outages():
        raise error


def test_pauses_double_up_to_the_bound() -> None:
    assert [backoff_ms(n) for n in range(7)] == [500, 1000, 2000, 4000, 8000, 16000, 16000]
    assert backoff_ms(10_000) == 16_000
