"""Whatever the engine's binding raises becomes one of our kinds of failure."""

from pathlib import Path

import pytest

from lithify.errors import Doubtful, Invalid, LithifyError, Misconfigured, Unavailable
from lithify.store.edge_collection import engine_errors


class PanicException(BaseException):
    """Named as the binding names it."""


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ValueError("failed to parse"), Invalid),
        (TypeError("no such type"), Invalid),
        (Exception("Vector dimension error: expected dim: 4, got 3"), Invalid),
        (Exception("failed to open WAL: Can't init WAL: Kind(WouldBlock)"), Misconfigured),
        (Exception("Service runtime error: No space left on device"), Unavailable),
        (Exception("Service internal error: index out of bounds"), Doubtful),
        (PanicException("WAL lock acquired"), Doubtful),
    ],
    ids=str,
)
def test_a_failure_of_the_engine_is_judged(raised: BaseException, kind: type[LithifyError]) -> None:
    with pytest.raises(LithifyError) as caught, engine_errors(Path("vectors")):
        raise raised
    assert type(caught.value) is kind


@pytest.mark.parametrize("raised", [KeyboardInterrupt, Unavailable, ZeroDivisionError])
def test_what_is_not_the_engines_passes(raised: type[BaseException]) -> None:
    with pytest.raises(raised), engine_errors(Path("vectors")):
        raise raised
