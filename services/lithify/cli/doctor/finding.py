"""What the doctor finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """`detail` names what was seen and, where it is not in order, the way out."""

    subject: str
    ok: bool
    detail: str
