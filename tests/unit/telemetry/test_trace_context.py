"""Reading trace contexts."""

import pytest

from lithify.telemetry.trace_context import read_traceparent, trace_id_of

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CONTEXT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.mark.parametrize("given", [f"00-{TRACE}-00f067aa0ba902b7-01", f"cc-{TRACE}-00f067aa0ba902b7-00-what-comes"])
def test_the_trace_is_named_by_its_id(given: str) -> None:
    assert trace_id_of(given) == TRACE


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "",
        "hello",
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{TRACE.upper()}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"{CONTEXT}-",
        f"{CONTEXT}-{'x' * 100_000}",
        f"{CONTEXT}\n",
        f" {CONTEXT}",
        f"{CONTEXT[:-1]}",
        f"{CONTEXT[:-2]}0G",
        f"cc{CONTEXT[2:]}x",
        f"cc{CONTEXT[2:]}.{'x' * 100_000}",
    ],
)
def test_a_broken_context_is_no_context(broken: str | None) -> None:
    assert trace_id_of(broken) is None


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (CONTEXT, CONTEXT),
        (f"cc{CONTEXT[2:]}", CONTEXT),
        (f"cc{CONTEXT[2:]}-{'x' * 100_000}", CONTEXT),
        (f"cc{CONTEXT[2:-2]}fe", f"{CONTEXT[:-2]}00"),
    ],
)
def test_no_more_is_read_of_a_context_than_version_00_has(given: str, read: str) -> None:
    assert read_traceparent(given) == read
    assert len(read) == 55
