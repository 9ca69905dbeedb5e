"""Whether a turn only says again what a memory holds: close vectors alone would put 9:30 beside 10:30."""

import re
from collections.abc import Sequence

# Negations are stop words to a search, so they are missing from its tokens.
_NEGATION = re.compile(r"\b(?:not|no|nor|neither|cannot|dont|didnt|doesnt|cant|wont|isnt)\b|n['’]t\b", re.IGNORECASE)


def restates(said: str, known: str, said_tokens: Sequence[str], known_tokens: Sequence[str]) -> bool:
    """Nothing is lost when the known text stands for the said one: every token is in it, in this order.

    The tokens are those of the search: stems, numbers and names, without function words.
    """
    return _negations(said) == _negations(known) and _in_order(said_tokens, known_tokens)


def _negations(text: str) -> int:
    return sum(1 for _ in _NEGATION.finditer(text))


def _in_order(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(token in rest for token in part)
