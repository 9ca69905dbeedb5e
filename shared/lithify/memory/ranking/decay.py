"""Lets dated documents fade while evergreen ones stay (spec 10 §7)."""

import re
from datetime import date

HALF_LIFE_DAYS = 30.0

_ISO_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


def date_in_path(path: str) -> date | None:
    """The last real calendar date in the path: a dated file may lie in a dated folder. None is evergreen."""
    for text in reversed(_ISO_DATE.findall(path)):
        try:
            return date.fromisoformat(text)
        except ValueError:
            continue
    return None


def decay_factor(dated: date | None, today: date, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """In [0, 1]; 1 for undated and for future documents."""
    if not half_life_days > 0.0:
        raise ValueError(f"the half-life must be a positive number of days, got {half_life_days}")
    if dated is None or dated >= today:
        return 1.0
    return float(2.0 ** -((today - dated).days / half_life_days))
