"""When a run of the lane is worth telling somebody: only if something became worse (spec 10 §12)."""

from collections.abc import Mapping
from typing import Any, Final

JUDGED: Final = "fused"


def reasons(previous: Mapping[str, Any] | None, current: Mapping[str, Any] | None) -> list[str]:
    """One sentence per question that no longer hits among five, and per new miss of an important one.

    Both are reports of the benchmark; questions that were taken out of the file are nobody's loss.
    """
    if current is None:
        return []
    now, before = current[JUDGED], {} if previous is None else previous[JUDGED]
    asked = {*now["hits"], *now["all_misses"]}
    lost = sorted(set(before.get("hits", ())) & asked - set(now["hits"]))
    important = set(now["important_misses"]) - set(before.get("important_misses", ())) - set(lost)
    return [
        *(f"regression: {one!r} no longer finds its document among the first five" for one in lost),
        *(f"miss: the important question {one!r} does not find its document" for one in sorted(important)),
    ]
