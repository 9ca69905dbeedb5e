"""A slow part is left out or replaced in time, and its failure is neither lost nor reported twice."""

import asyncio

import pytest

from lithify.assembly.deadlines import Deadline, Late, attempt, finish_by, hedge
from lithify.errors import Invalid, Unavailable


async def never() -> str:
    await asyncio.Event().wait()
    return "never"


async def word(text: str) -> str:
    return text


async def fail(error: Exception) -> str:
    raise error


async def test_work_in_time_is_passed_on_and_late_work_is_cancelled() -> None:
    assert await finish_by(word("a"), Deadline.after(1000)) == "a"
    with pytest.raises(Late):
        await finish_by(never(), Deadline.after(5))


async def test_a_passed_deadline_leaves_no_time() -> None:
    past = Deadline.after(-1000)
    assert past.seconds_left() == 0
    assert past < Deadline.after(0)


async def test_an_attempt_turns_a_failure_of_ours_into_words() -> None:
    deadline = Deadline.after(1000)
    assert await attempt(word("a"), deadline, "b", "no") == ("a", [])
    assert await attempt(fail(Unavailable("gone")), deadline, "b", "no") == ("b", ["no: gone"])
    with pytest.raises(ZeroDivisionError):
        await attempt(fail(ZeroDivisionError()), deadline, "b", "no")


async def test_the_first_choice_wins_without_asking_the_second() -> None:
    answer = await hedge(lambda: word("first"), lambda: fail(AssertionError()), Deadline.after(1000))
    assert (answer.value, answer.failure) == ("first", None)


async def test_the_second_choice_answers_when_the_first_fails_or_is_late() -> None:
    failed = await hedge(lambda: fail(Unavailable("gone")), lambda: word("second"), Deadline.after(1000))
    assert (failed.value, str(failed.failure)) == ("second", "gone")
    late = await hedge(never, lambda: word("second"), Deadline.after(40))
    assert late.value == "second"
    assert isinstance(late.failure, Late)


async def test_a_first_choice_that_comes_after_half_of_the_time_is_still_preferred() -> None:
    asked = asyncio.Event()

    async def slow() -> str:
        await asked.wait()
        return "first"

    async def second() -> str:
        asked.set()
        return "second"

    assert (await hedge(slow, second, Deadline.after(100))).value == "first"


async def test_with_no_answer_at_all_the_first_failure_is_told() -> None:
    with pytest.raises(Unavailable, match="gone"):
        await hedge(lambda: fail(Unavailable("gone")), lambda: fail(Invalid("worse")), Deadline.after(1000))
    with pytest.raises(Late):
        await hedge(never, never, Deadline.after(20))


async def test_a_bug_in_the_first_choice_is_not_covered_up() -> None:
    with pytest.raises(ZeroDivisionError):
        await hedge(lambda: fail(ZeroDivisionError()), lambda: word("second"), Deadline.after(1000))
