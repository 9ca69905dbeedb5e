"""σ, the deontic detector: which authored paragraphs oblige, forbid or permit something (spec 06 §4).

The words belong to the lexicon `deontic-v1`; any change of them or of the rules needs a new version.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

# X31: the broad rule set is kept as a versioned lexicon; it makes no claim of logical consistency.
LEXICON_VERSION = "deontic-v1"

OBLIGATION = 2
FORBIDDEN = 4
PERMITTED = 8

_IMPERATIVES = """
    act answer ask avoid be bypass build change check cite compromise consult create delete deny design eliminate
    ensure escalate follow format ground implement include inspect keep leak maintain mark modify pitch prefer
    preserve prioritize promise read rebuild reduce refactor refer reference reject republish rerun retreat return
    reveal rewrite run signal skip structure suggest treat trust update use validate verify weaken wipe write
"""
IMPERATIVES = frozenset(_IMPERATIVES.split())

STRONG_MODALS = frozenset({"must", "shall", "required"})
MODALS = STRONG_MODALS | {"should"}
FANCIES = frozenset({"imagine", "picture", "envision", "suppose"})  # "you must imagine" tells, it does not order

IDENTITY_VERBS = frozenset({"are", "speak", "reference", "ask"})
EMPHASES = frozenset({"always", "please", "strictly"})
PROHIBITIONS = frozenset({"prohibited", "forbidden"})
COMMAND_LABELS = frozenset({"build", "test", "lint", "benchmarks", "production", "development"})
POLICY_LABELS = frozenset(
    {
        ("alloc", "strategy"),
        ("concurrency", "model"),
        ("performance", "target"),
        ("anti", "vm"),
        ("sandbox", "aware"),
        ("ebpf", "monitoring"),
    },
)
SUBJECTS = (("the", "system"), ("all", "work"), ("functions",), ("code",), ("logic",), ("tests",), ("work",))
DESIGN_AIMS = (("the", "design", "goal", "is"), ("the", "design", "purpose", "is"))
SETUP_PHRASES = (("to", "get"), ("if", "you", "need"), ("if", "you", "hit"), ("the", "tests", "are"))
WINDOW = 3  # words between `you` and its modal, the modal included
# How many words after the opening may hold the deciding word.
BAN_REACH = 6
CONDITION_REACH = 14
UNIVERSAL_REACH = 5
DUTY_REACH = 4
LONGEST_TRIGGER = 4
_WORD = re.compile(r"[A-Za-z]+")
_BLANKS = " \t\r\f\v\u00a0"  # a newline is not blank here: it starts a sentence
_SENTENCE_ENDS = frozenset("\n.!?:;")
_HARD_ENDS = frozenset("\n.")


@dataclass(frozen=True, slots=True)
class Word:
    """It is a maximal run of ASCII letters; digits and other scripts split words."""

    text: str  # lower case
    is_capital: bool  # every letter is upper case
    before: str  # what separates it from the previous word
    after: str
    starts_sentence: bool
    starts_hard: bool  # opens the text or follows a full stop or newline

    def follows(self, marks: str) -> bool:
        """Returns whether the last non-blank character before the word is one of these marks."""
        gap = self.before.rstrip(_BLANKS)
        return bool(gap) and gap[-1] in marks

    def precedes(self, mark: str) -> bool:
        return self.after.lstrip(_BLANKS).startswith(mark)


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one text; asking beyond its ends gives the empty word, never an error."""

    words: tuple[Word, ...]
    texts: tuple[str, ...]

    def text(self, index: int) -> str:
        return self.texts[index] if 0 <= index < len(self.texts) else ""

    def span(self, start: int, length: int) -> range:
        """Returns the indexes of up to `length` words from `start`."""
        return range(start, min(start + length, len(self.words)))

    def reads(self, index: int, *phrase: str) -> bool:
        # A negative index gives a slice shorter than the phrase, hence False.
        return self.texts[index : index + len(phrase)] == phrase


def read_wording(text: str) -> Wording:
    matches = list(_WORD.finditer(text))
    starts = [*(match.start() for match in matches), len(text)]
    ends = [0, *(match.end() for match in matches)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    words = tuple(_word(match, gaps[i], gaps[i + 1]) for i, match in enumerate(matches))
    return Wording(words, tuple(word.text for word in words))


def _word(match: re.Match[str], before: str, after: str) -> Word:
    gap = before.rstrip(_BLANKS)
    opens = match.start() == len(before) and not gap
    return Word(
        text=match[0].lower(),
        is_capital=match[0].isupper(),
        before=before,
        after=after,
        starts_sentence=opens or gap[-1:] in _SENTENCE_ENDS,
        starts_hard=opens or gap[-1:] in _HARD_ENDS,
    )


def modality(text: str) -> int:
    """Returns the mask of obligation 2, forbidden 4 and permitted 8; 0 means plain prose.

    Every rule that fires is OR-ed in, so contradicting bits may stand together ("should never"; X31).
    """
    words = read_wording(text)
    mask, in_setup = 0, False
    for i, word in enumerate(words.words):
        in_setup = _opens_setup(words, i) or (in_setup and not word.starts_hard)
        mask |= _second_person(words, i) | _identity(words, i) | match_openings(words, i) | _interjection(words, i)
        mask |= _setup_step(words, i) if in_setup else 0
    return mask


def _second_person(words: Wording, i: int) -> int:
    """R1: a modal binds the reader who is addressed as `you`."""
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
    """Returns whether `you` stands shortly before, in the same sentence.

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
    """R2: a sentence tells the reader who he is or what he does."""
    addressed = words.words[i].starts_sentence and words.reads(i, "you")
    return OBLIGATION if addressed and words.text(i + 1) in IDENTITY_VERBS else 0


def _opens_setup(words: Wording, i: int) -> bool:
    return any(words.reads(i, *phrase) for phrase in SETUP_PHRASES)


def _setup_step(words: Wording, i: int) -> int:
    """R4: an imperative after `then` needs no rule of its own, since inside the context every imperative counts."""
    if words.text(i) not in IMPERATIVES:
        return 0
    return OBLIGATION | (FORBIDDEN if words.reads(i - 2, "don", "t") else 0)


def _interjection(words: Wording, i: int) -> int:
    """R5: comma and blank are ordinary prose; only a comma glued to the verb counts."""
    if words.text(i) not in IMPERATIVES:
        return 0
    return OBLIGATION if words.reads(i - 1, "but") or words.words[i].before.endswith(",") else 0


def match_openings(words: Wording, i: int) -> int:
    """Returns the mask of every opening (R3) that the word at a sentence start begins."""
    if not words.words[i].starts_sentence:
        return 0
    mask = 0
    for rule in _OPENINGS:
        mask |= rule(words, i)
    return mask


def _emphasis(words: Wording, i: int) -> int:
    return OBLIGATION if words.text(i) in EMPHASES and _is_imperative(words, i + 1) else 0


def _refusal(words: Wording, i: int) -> int:
    never = words.reads(i, "never") and _is_imperative(words, i + 1)
    do_not = words.reads(i, "do", "not") and _is_imperative(words, i + 2)
    return FORBIDDEN if never or do_not else 0


def _absence(words: Wording, i: int) -> int:
    """It also fires on "No idea", a false positive the lexicon is known for."""
    return FORBIDDEN if words.reads(i, "no") and words.text(i + 1) else 0


def _reminder(words: Wording, i: int) -> int:
    return OBLIGATION if words.reads(i, "don", "t", "forget") else 0


def _command(words: Wording, i: int) -> int:
    if not _is_imperative(words, i):
        return 0
    aims = any(words.reads(i - len(aim), *aim) for aim in DESIGN_AIMS)
    return 0 if aims and words.words[i].before.strip() == ":" else OBLIGATION


def _default_requirement(words: Wording, i: int) -> int:
    labelled = words.reads(i, "default", "requirement") and words.words[i + 1].precedes(":")
    return OBLIGATION if labelled and (_is_imperative(words, i + 2) or words.reads(i + 2, "every")) else 0


def _ban(words: Wording, i: int) -> int:
    banned = any(words.text(j) in PROHIBITIONS for j in words.span(i + 1, BAN_REACH))
    return FORBIDDEN if words.reads(i, "bid") and banned else 0


def _condition(words: Wording, i: int) -> int:
    if not words.reads(i, "if"):
        return 0
    clauses = (j for j in words.span(i + 1, CONDITION_REACH) if words.words[j].follows(",;:"))
    return next(filter(None, (_consequence(words, j) for j in clauses)), 0)


def _consequence(words: Wording, i: int) -> int:
    if _is_imperative(words, i):
        return OBLIGATION
    if words.reads(i, "make", "sure", "to") and _is_imperative(words, i + 3):
        return OBLIGATION
    return FORBIDDEN if words.reads(i, "do", "not") and _is_imperative(words, i + 2) else 0


def _command_label(words: Wording, i: int) -> int:
    colon = any(words.words[j].precedes(":") for j in words.span(i, 2))
    return OBLIGATION if words.text(i) in COMMAND_LABELS and colon else 0


def _policy_label(words: Wording, i: int) -> int:
    if (words.text(i), words.text(i + 1)) not in POLICY_LABELS:
        return 0
    first, second = words.words[i : i + 2]
    return OBLIGATION if first.is_capital and second.is_capital and second.precedes(":") else 0


def _trigger_label(words: Wording, i: int) -> int:
    """Reads `ON LOW DISK -> …`: capitals stand from ON up to the arrow."""
    if not words.reads(i, "on") or not words.words[i].is_capital:
        return 0
    for j in words.span(i + 1, LONGEST_TRIGGER - 1):
        if not words.words[j].is_capital:
            return 0
        if words.words[j].precedes("->"):
            return OBLIGATION
    return 0


def _universal(words: Wording, i: int) -> int:
    bound = any(words.text(j) in MODALS for j in words.span(i + 1, UNIVERSAL_REACH))
    return OBLIGATION if words.reads(i, "every") and bound else 0


def _duty(words: Wording, i: int) -> int:
    lengths = (len(subject) for subject in SUBJECTS if words.reads(i, *subject))
    length = next(lengths, 0)
    bound = any(_binds(words, j) for j in words.span(i + length, DUTY_REACH))
    return OBLIGATION if length and bound else 0


def _binds(words: Wording, i: int) -> bool:
    return words.text(i) in STRONG_MODALS or (words.reads(i, "should", "be") and _is_imperative(words, i + 2))


def _is_imperative(words: Wording, i: int) -> bool:
    return words.text(i) in IMPERATIVES


_OPENINGS: tuple[Callable[[Wording, int], int], ...] = (
    _emphasis,
    _refusal,
    _absence,
    _reminder,
    _command,
    _default_requirement,
    _ban,
    _condition,
    _command_label,
    _policy_label,
    _trigger_label,
    _universal,
    _duty,
)
