"""Looks a second time, from what was found: a name that the best hit brings in leads to where else it is said.

"Where does my sister work?" finds "My sister Mia is visiting", and only Mia leads on to "Mia has a job at the harbour".
Likeness to the best hits in words or meaning was tried as well and is worth nothing (docs/evaluation.md).
"""

import re
from collections.abc import Sequence
from typing import Final

from lithify.memory.bounds import FloatArray

# A capital behind a small letter or a comma: inside a sentence, and so no ordinary word in most languages.
_NAME: Final = re.compile(r"(?<=[^\W\d_A-Z][ ])[A-Z][^\W\d_]{2,}|(?<=[,;'’][ ])[A-Z][^\W\d_]{2,}")
# A name that more records say tells none of them apart.
COMMON: Final = 0.1
FEW: Final = 2
LOOKED_AT: Final = 2000  # characters of the best hit


def link_by_names(query: str, texts: Sequence[str], merits: FloatArray) -> list[float]:
    """Returns 1 for each text that says a name which the best one brings in, and 0 for the others."""
    nobody = [0.0] * len(texts)
    if not texts:
        return nobody
    best = int(merits.argmax())
    asked = query.casefold()
    names = {name for name in _NAME.findall(texts[best][:LOOKED_AT]) if name.casefold() not in asked}
    most = max(FEW, COMMON * len(texts))
    for name in sorted(names):
        said = [place for place, text in enumerate(texts) if place != best and name in text]
        if len(said) < most:
            for place in said:
                nobody[place] = 1.0
    return nobody
