"""Puts a question about the owner of a memory into his own words, for he never speaks of himself by his name.

"Where does Ada live?" is nearer to "Welcome, Ada!" than to anything Ada says about her home; "Where do I live?" is not.
"""

import re
from functools import lru_cache
from typing import Final

from lithify.memory.languages import is_foreign
from lithify.memory.ranking.cues import name_words

LEAST_LETTERS: Final = 3  # of a name; shorter ones are ordinary words too often
_WORD: Final = re.compile(r"[^\W_]+")
# What stands before the name, and what both become. English only: other languages bend the verb itself.
_FORMS: Final = (("does", "do I"), ("did", "did I"), ("is", "am I"), ("was", "was I"), ("has", "have I"))


def ask_as_owner(query: str, user: str | None) -> str:
    """Returns an English question about the user, by the name that is his id, in the first person; others as they are.

    Only a name with a capital counts: whoever is called Will or Mark is not meant by every "will" and "mark".
    """
    names = [word for word in name_words(user or "") if len(word) >= LEAST_LETTERS and word.isalpha()]
    if not names or is_foreign(query):
        return query
    for name in sorted(names):
        query = _rewrite(query, name.capitalize())
    return query


def _rewrite(query: str, name: str) -> str:
    if name not in _WORD.findall(query):
        return query
    for pattern, form in _compile_forms(name):
        query = pattern.sub(form, query)
    return query


@lru_cache(maxsize=256)
def _compile_forms(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    asked = [(re.compile(rf"\b{verb} {name}\b(?!')", re.IGNORECASE), form) for verb, form in _FORMS]
    owned = (re.compile(rf"\b{name}'s?(?=\s)"), "my")
    object_ = (re.compile(rf"\b(about|of|for|with|to|by|from) {name}\b", re.IGNORECASE), r"\1 me")
    last = (re.compile(rf"\b{name}(?=\W*$)"), "me")
    return owned, *asked, object_, last, (re.compile(rf"\b{name}\b"), "I")
