"""Crash points end the process when armed, and only then."""

import subprocess
import sys

import pytest

from lithify.streams import crash

PROGRAM = "from lithify.streams import crash; crash.arm({armed!r}); crash.crash_point('before_ack'); print('alive')"


@pytest.mark.parametrize(
    ("armed", "code", "said"), [("before_ack", 137, ""), ("after_read", 0, "alive\n"), (None, 0, "alive\n")]
)
def test_only_the_armed_point_ends_the_process(armed: str | None, code: int, said: str) -> None:
    program = PROGRAM.format(armed=armed)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (code, said)


def test_points_are_inert_by_default() -> None:
    crash.crash_point("before_ack")
