"""σ, the deontic detector: which authored paragraphs oblige, forbid or permit something (spec 06 §4)."""

from lithify.memory.rulebook.deontic_lexicon import (
    FANCIES,
    FORBIDDEN,
    IDENTITY_VERBS,
    IMPERATIVES,
    OBLIGATION,
    PERMITTED,
    SETUP_PHRASES,
    STRONG_MODALS,
)
from lithify.memory.rulebook.deontic_openings import opening
from lithify.memory.rulebook.wording import Wording, wording

WINDOW = 3  # words between `you` and its modal, the modal included


def modality(text: str) -> int:
    """The mask of obligation 2, forbidden 4 and permitted 8; 0 means plain prose.

    Every rule that fires is OR-ed in, so contradicting bits may stand together ("should never"; X31).
    """
    words = wording(text)
    mask, in_setup = 0, False
    for i, word in enumerate(words.words):
        in_setup = _opens_setup(words, i) or (in_setup and not word.starts_hard)
        mask |= _second_person(words, i) | _identity(words, i) | opening(words, i) | _interjection(words, i)
        mask |= _setup_step(words, i) if in_setup else 0
    return mask


def _second_person(words: Wording, i: int) -> int:
    """R1."""
    verdict = _modal(words.text(i), negated=words.reads(i + 1, "not"))
    return verdict if verdict and _addresses_reader(words, i) and not _is_fancy(words, i) else 0


def _modal(word: str, *, negated: bool) -> int:
    if word in STRONG_MODALS:
        return FORBIDDEN if negated else OBLIGATION
    if word == "should":
        return OBLIGATION
    if word == "may":
        return FORBIDDEN if negated else PERMITTED
    forbids = word in {"never", "cannot"} or (word == "can" and negated)
    return FORBIDDEN if forbids else 0


def _addresses_reader(words: Wording, i: int) -> bool:
    """Whether `you` stands shortly before, in the same sentence.

    X31: bounding the window keeps a `you` that ends one sentence from claiming the modal that opens the next.
    """
    for j in range(i, max(i - WINDOW, 0), -1):
        if words.words[j].starts_sentence:
            return False
        if words.reads(j - 1, "you"):
            return True
    return False


def _is_fancy(words: Wording, i: int) -> bool:
    following = i + 2 if words.reads(i + 1, "to") else i + 1
    return words.text(following) in FANCIES


def _identity(words: Wording, i: int) -> int:
    """R2."""
    addressed = words.words[i].starts_sentence and words.reads(i, "you")
    return OBLIGATION if addressed and words.text(i + 1) in IDENTITY_VERBS else 0


def _opens_setup(words: Wording, i: int) -> bool:
    return any(words.reads(i, *phrase) for phrase in SETUP_PHRASES)


def _setup_step(words: Wording, i: int) -> int:
    """R4. An imperative after `then` needs no rule of its own: inside the context every imperative counts."""
    if words.text(i) not in IMPERATIVES:
        return 0
    return OBLIGATION | (FORBIDDEN if words.reads(i - 2, "don", "t") else 0)


def _interjection(words: Wording, i: int) -> int:
    """R5. Comma and blank is ordinary prose; only a comma glued to the verb counts."""
    if words.text(i) not in IMPERATIVES:
        return 0
    return OBLIGATION if words.reads(i - 1, "but") or words.words[i].before.endswith(",") else 0
