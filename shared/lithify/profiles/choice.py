"""Loads the profile that a setting names: one that is shipped, or a file."""

from pathlib import Path
from typing import Final

from lithify.errors import Misconfigured
from lithify.memory.ranking.profile import Profile
from lithify.profiles.reading import BASES, parse_profile

BUILT_IN: Final = {name: profile.normalise() for name, profile in BASES.items()}


def load_profile(choice: str) -> Profile:
    """Returns the profile of this name, or that of the file at this path, which is named after its file.

    Read it once, when the process starts. Raises Misconfigured if there is none, or if it is not as it must be.
    """
    if choice in BUILT_IN:
        return BUILT_IN[choice]
    file = Path(choice)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Misconfigured(f"the retrieval profile {choice} cannot be read: {reason}") from None
    return parse_profile(text, file.name)
