"""The rules of jobs that need no server: ids, names, policies, settings."""

import re

import pytest
from fakeredis import FakeRedis
from hypothesis import given
from hypothesis import strategies as st

from lithify.errors import Invalid, Misconfigured
from lithify.jobs import Policy, RunnerSettings, enqueue, job_id, open_queue
from lithify.jobs.keys import checkpoint, is_permanent, last_period, upkeep


@given(st.text())
def test_any_text_makes_an_id_rq_accepts(unique_id: str) -> None:
    assert re.fullmatch(r"compact-[0-9a-f]{32}", job_id("compact", unique_id))


@given(st.tuples(st.sampled_from(["a", "a-b"]), st.text()), st.tuples(st.sampled_from(["a", "a-b"]), st.text()))
def test_jobs_share_an_id_only_if_they_share_name_and_id(one: tuple[str, str], two: tuple[str, str]) -> None:
    assert (job_id(*one) == job_id(*two)) == (one == two)


@pytest.mark.parametrize("name", ["", "Compact", "os.system", "compact sessions", "7up", "ü"])
async def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match="job name"):
        await enqueue(open_queue(FakeRedis(), "q"), name, {}, unique_id="x")


@pytest.mark.parametrize(
    "bad",
    [{"retry_after_s": ()}, {"retry_after_s": (0,)}, {"timeout_s": 0}, {"result_ttl_s": -1}, {"failure_ttl_s": 0}],
)
def test_a_job_cannot_go_without_retry_timeout_or_end_of_its_record(bad: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        Policy(**bad)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("bad", [{"slots": 0}, {"lease_s": 1}, {"upkeep_s": 0}, {"block_s": 0}, {"block_s": 60}])
def test_a_runner_that_could_not_work_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(Misconfigured):
        RunnerSettings(**bad)


def test_no_key_of_ours_is_permanent() -> None:
    assert not any(is_permanent(key) for key in (checkpoint("x"), upkeep("q"), last_period("s")))
    assert is_permanent("rq:queue:compaction:intermediate")
    assert not is_permanent("rq:worker:host-1")
