"""Which files of a folder are documents: an explicit list of patterns, and nothing outside it (spec 10 §1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from lithify.docs.sources import DEFAULT_INCLUDE, SUFFIXES
from lithify.errors import Invalid


@dataclass(frozen=True, slots=True)
class Allowlist:
    patterns: tuple[str, ...] = DEFAULT_INCLUDE

    def allows(self, path: str) -> bool:
        """`path` is relative and written with slashes."""
        return path.lower().endswith(SUFFIXES) and any(matcher(one).fullmatch(path) for one in self.patterns)


def allowlist(patterns: Sequence[str]) -> Allowlist:
    """Raises Invalid for a pattern that looks outside the folder."""
    for one in patterns:
        if not one or one.startswith("/") or ".." in one.split("/"):
            raise Invalid(f"include: {one!r} must be a pattern inside the folder, such as 'docs/**/*.md'")
    return Allowlist(tuple(patterns) or DEFAULT_INCLUDE)


@cache
def matcher(pattern: str) -> re.Pattern[str]:
    """`**` stands for any number of folders, `*` and `?` stay inside one name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(part, re.escape(part)) for part in parts), re.DOTALL)
