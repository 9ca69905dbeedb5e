"""Where what was learned about the worth of turns is kept: beside a model, or shipped for the default one."""

from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from lithify.errors import Misconfigured
from lithify.memory.gating.worth import Worth
from lithify.memory.languages import ENGLISH

WORTH_FILE: Final = "worth.json"
"""In the folder of an embedding profile, made by `lithify calibrate gate --learn`."""

# Digits of a weight: the worth of a turn changes by less than a thousandth.
DIGITS: Final = 5


def find_worth(profile: Path, family: str) -> Worth | None:
    """Reads what the operator's own labels taught, else what is shipped; None if nothing was learned for the family.

    Raises Misconfigured for a file that cannot be read or belongs to another family.
    """
    own = profile / WORTH_FILE
    if own.is_file():
        return read_worth(own.read_bytes(), family, str(own))
    shipped = files(__package__) / f"{family}.{WORTH_FILE}"
    return read_worth(shipped.read_bytes(), family, shipped.name) if shipped.is_file() else None


def read_worth(content: bytes, family: str, source: str) -> Worth:
    try:
        raw = orjson.loads(content)
        weights = np.array(raw["weights"], np.float64)
        languages = frozenset(map(str, raw.get("languages", (ENGLISH,))))
        worth = Worth(raw["family"], weights, languages, hears_words=bool(raw.get("words", False)))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise Misconfigured(f"{source} cannot be read ({error}); run `lithify calibrate gate --learn`") from error
    if worth.family != family:
        raise Misconfigured(f"{source} was learned for {worth.family}, not for {family}; learn it anew")
    return worth


def write_worth(path: Path, worth: Worth) -> None:
    weights = [round(float(weight), DIGITS) for weight in worth.weights]
    content = {
        "family": worth.family,
        "languages": sorted(worth.languages),
        "words": worth.hears_words,
        "weights": weights,
    }
    path.write_bytes(orjson.dumps(content) + b"\n")
