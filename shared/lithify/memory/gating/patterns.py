"""The textual evidence the gate looks for: pattern sets gp1 (default) and gp2 (spec 04 §3 and §4).

Every expression runs in linear time on hostile text: repeats are possessive or atomic wherever two of them could
share characters, and a scan that may fail late can only start at the first character of a run.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

PatternSet = Mapping[str, re.Pattern[str]]


def _exact(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.ASCII | re.MULTILINE)


def _any_case(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.ASCII | re.MULTILINE | re.IGNORECASE)


_TECHNICAL: PatternSet = {
    "t1": _exact(r"```[\s\S]+?```"),
    # A leading ./ ../ or / changes where a path starts, never whether it counts, so it is left out.
    "t2": _exact(r"(?<![\w.-])[\w.-]++(?:/[\w.-]++)++"),
    "t3": _exact(r"\b(?:func|def|class)\b|\b[A-Za-z_]\w*+\s*+\("),
    "t4": _exact(r"^[^\S\n]*+\$|\b(?:git|npm|pnpm|yarn|go|docker|make|kubectl)\b"),
    "t5": _exact(r"https?://\S+|/[A-Za-z0-9._~/-]+"),
    "t6": _any_case(
        r"\b(?:panic:|goroutine\s++\d+|stack trace|traceback|exception:|at\s++[^\s:]++:\d+)\b",
    ),
    "t7": _exact(r"\b[0-9a-f]{7,40}\b|\b0x[0-9A-Fa-f]+\b"),
}

_CONVERSATIONAL: PatternSet = {
    "d1": _exact(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b"),
    "d2": _exact(r"\b\d+(?:\.\d+)?\b"),
    "d3": _any_case(
        r"\b(?:(?:mrs?|ms|dr|prof)\.?|my (?:manager|teammate|friend|colleague))\s++[a-z]{2,}\b",
    ),
    "d4": _any_case(r"\b(?:i prefer|i like|i love|my favorite|i enjoy)\b"),
    "d5": _any_case(r"\b(?:i work at|my [a-z]++ is|i live in|i am|i have)\b"),
}

_SPECIFIC: PatternSet = {
    "q1": _exact(r"\b[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)?+\s*+\("),
    "q2": _any_case(r"\bERR_[A-Z0-9_]+|\bE[A-Z0-9_]{2,}|\bHTTP\s++[45]\d\d\b|\b[45]\d\d\b"),
    "q3": _exact(r"\b(?:[0-9a-f]{7,40}|HEAD|main|master)\b|\borigin/[A-Za-z0-9._/-]+"),
}

_ACTIONABLE: PatternSet = {
    # Only the first `use` of a line is tried: a later one would see less of the same line.
    "a1": _any_case(
        r"\b(?:switched to|migrated to|replaced with|decided to|standardize on)\b"
        r"|^(?>.*?\buse ).*? instead\b",
    ),
    "a2": _any_case(r"\b(?:fixed|resolved|patched|corrected|unblocked)\b"),
    "a3": _any_case(r"\b(?:deployed|merged|released|shipped|rolled out)\b"),
    "a4": _any_case(
        r"\b(?:set [a-z_]\w*+ to|configured|configuration changed|env(?:ironment)? var)\b",
    ),
}

_STRUCTURAL: PatternSet = {
    "s1": _any_case(r"\b(?:struct|interface|type|enum|map\[)\b"),
    "s2": _any_case(r"\b(?:import|require|go\.mod|package\.json|dependency|depends on)\b"),
    "s3": _any_case(r"\b(?:func Test\w++|it\(|describe\(|test\()\b"),
    "s4": _exact(r"^[^\S\n]*+//|/\*\*|///"),
}

# gp1 keeps the defects f1 to f7 on purpose: the threshold 0.35 was set against them (X04).
_GP1: PatternSet = {**_TECHNICAL, **_CONVERSATIONAL, **_SPECIFIC, **_ACTIONABLE, **_STRUCTURAL}

# A path starts a run of path characters, holds a letter, and is rooted, three segments long, or ends in an extension.
_REAL_PATH = r"""
    (?<![\w/:.-]) (?=[\d./-]*+[A-Za-z_])
    (?: \.{0,2}/[\w.-]++(?:/[\w.-]++)*+
      | [\w.-]++(?:/[\w.-]++){2,}+
      | [\w.-]++/[\w.-]*\.[A-Za-z]\w*+ )
"""

# gp2 corrects f1 to f6; f7 stays, a bare status code and the word main are real evidence too often.
_GP2: PatternSet = {
    **_GP1,
    "t2": re.compile(_REAL_PATH, re.ASCII | re.VERBOSE),
    "t4": _exact(
        r"^[^\S\n]*+\$|\b(?:git|npm|pnpm|yarn|docker|kubectl)\b"
        r"|\bgo\s++(?:build|test|run|mod|get|vet|fmt|generate|install|work)\b"
        r"|(?:^|[`;&|$])[^\S\n]*+make(?!\S)",
    ),
    "t5": _exact(r"https?://\S+|(?<![\w/:.])/[A-Za-z0-9._~-][A-Za-z0-9._~/-]*+"),
    "t6": _any_case(
        r"\b(?:panic:|exception:|(?:goroutine\s++\d+|stack trace|traceback|at\s++[^\s:]++:\d+)\b)",
    ),
    "d3": _exact(
        r"\b(?i:(?:mrs?|ms|dr|prof)\.?|my (?:manager|teammate|friend|colleague))\s++[A-Z][a-z]+",
    ),
    "q2": _exact(r"\bERR_[A-Z0-9_]+\b|\bE[A-Z0-9_]{2,}\b|\b(?i:HTTP)\s++[45]\d\d\b|\b[45]\d\d\b"),
    "s3": _any_case(r"\b(?:func Test\w++|it\(|describe\(|test\()"),
}

PATTERN_SETS: Mapping[str, PatternSet] = MappingProxyType(
    {"gp1": MappingProxyType(_GP1), "gp2": MappingProxyType(_GP2)},
)


def fires(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def count_matches(pattern: re.Pattern[str], text: str) -> int:
    """Counts the matches that do not overlap."""
    return sum(1 for _ in pattern.finditer(text))
