"""`lithify doctor`: the checks of an installation and of what it talks to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: `detail` names what was seen and, where it is not in order, the way out."""

    subject: str
    ok: bool
    detail: str
