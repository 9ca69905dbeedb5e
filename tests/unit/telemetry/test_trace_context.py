"""Reading trace contexts."""

import pytest

from lithify.telemetry.trace_context import trace_id_of

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


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
    ],
)
def test_a_broken_context_is_no_context(broken: str | None) -> None:
    assert trace_id_of(broken) is None
