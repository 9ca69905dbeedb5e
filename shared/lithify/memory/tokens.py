"""The host token estimator, the only one in budget arithmetic (spec 02 §3), and how far it is from a real tokenizer."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

# Order matters: one CJK or Hangul character decides for the whole string, then the denser alphabets.
_CJK = re.compile(r"[\u4e00-\u9faf\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3]")
_DENSE_ALPHABET = re.compile(r"[\u0400-\u04ff\u0600-\u06ff\u0590-\u05ff]")  # Cyrillic, Arabic, Hebrew

CHARS_PER_TOKEN_CJK = 1.6
CHARS_PER_TOKEN_DENSE = 2.5
CHARS_PER_TOKEN = 4.0
_LOW_PERCENTILE = 5


def chars_per_token(text: str) -> float:
    """Returns χ of the text; it over-counts mixed scripts, which is the safe direction."""
    if _CJK.search(text):
        return CHARS_PER_TOKEN_CJK
    if _DENSE_ALPHABET.search(text):
        return CHARS_PER_TOKEN_DENSE
    return CHARS_PER_TOKEN


def estimate_tokens(text: str) -> int:
    """Counts code points, not UTF-16 units (X12). The empty text costs nothing."""
    return math.ceil(len(text) / chars_per_token(text))


def estimate_lines(text: str) -> int:
    """Estimates line by line: a text of many scripts costs what its lines cost, not what its oddest character says.

    Lines add up, so the whole of a prompt costs exactly the sum of its parts.
    """
    return sum(map(estimate_tokens, text.splitlines(keepends=True)))


@dataclass(frozen=True, slots=True)
class TokenSample:
    script: str
    text: str
    tokens: int  # what the real tokenizer counts, without its special tokens
    unknown: int = 0  # how many of them are the unknown token

    def __post_init__(self) -> None:
        if self.tokens < 1 or not 0 <= self.unknown <= self.tokens:
            raise ValueError(
                f"a {self.script} sample needs at least one token and no more unknown ones than tokens, "
                f"got {self.tokens} and {self.unknown}"
            )


@dataclass(frozen=True, slots=True)
class ScriptCalibration:
    script: str
    texts: int
    characters: int
    tokens: int
    estimated: int
    chi_used: float  # mean characters per token that the estimator assumed
    chi_mean: float  # mean of the measured ones
    chi_low: float  # their 5th percentile: a χ at or below it is safe for 95 % of the texts
    undercounted_share: float  # texts whose estimate is below the real count
    worst_shortfall: float  # largest share of a text's real tokens that the estimate misses
    unknown_share: float  # a tokenizer that does not know a script counts it wrongly itself

    @property
    def estimate_ratio(self) -> float:
        """Divides estimated by real tokens, all texts together; below 1 the budget would be overrun."""
        return self.estimated / self.tokens


def calibrate_tokens(samples: Iterable[TokenSample]) -> tuple[ScriptCalibration, ...]:
    """Returns one row per script, in order of first appearance."""
    groups: dict[str, list[TokenSample]] = {}
    for sample in samples:
        groups.setdefault(sample.script, []).append(sample)
    return tuple(_summarise(script, group) for script, group in groups.items())


def _summarise(script: str, samples: Sequence[TokenSample]) -> ScriptCalibration:
    lengths = np.array([len(sample.text) for sample in samples])
    real = np.array([sample.tokens for sample in samples])
    estimated = np.array([estimate_tokens(sample.text) for sample in samples])
    measured = lengths / real
    return ScriptCalibration(
        script=script,
        texts=len(samples),
        characters=int(lengths.sum()),
        tokens=int(real.sum()),
        estimated=int(estimated.sum()),
        chi_used=float(np.mean([chars_per_token(sample.text) for sample in samples])),
        chi_mean=float(measured.mean()),
        chi_low=float(np.percentile(measured, _LOW_PERCENTILE)),
        undercounted_share=float((estimated < real).mean()),
        worst_shortfall=float(np.maximum(1.0 - estimated / real, 0.0).max()),
        unknown_share=sum(sample.unknown for sample in samples) / int(real.sum()),
    )
