"""What a question or a text tells by its form: its words, taken literally (spec 08 §3), and signs of an answer."""

import re
from collections.abc import Sequence

from lithify.memory.languages import ends_like_question, find_readings, finds_cue, normalise

FULL_SUBSTANCE = 64  # tokens from which on more text promises no more facts

_QUESTION_MARK = re.compile(r"[?？؟]")
# The clause alone: "I bought a Clio for 4,800, was that too much?" states what was bought.
# Every clause is matched, whatever ends it: looking for questions only would try each of its letters as a beginning.
_CLAUSE = re.compile(r"[^.!?。！？؟\n,，、;؛]*(?:[.!?。！？؟\n,，、;؛]|$)")
_DIGIT = re.compile(r"\d")
_SPEAKER = re.compile(r"\A([^\W\d_][\w.'-]*(?: [\w.'-]+){0,3}):\s")
_WORD = re.compile(r"[^\W_]+")
MIN_KEYWORD = 3

# Scripts written without spaces between words: Han, kana, Hangul, with their extensions and half-width forms.
_CJK = (
    r"\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"
)
# Either one run of such characters or one run of other word characters; both end where the script changes.
_RUN = re.compile(rf"([{_CJK}]+)|[^\W{_CJK}]+")
_CJK_RUN = re.compile(rf"[{_CJK}]{{2,}}")
_ASCII_WORDS = bytes.maketrans(
    bytes(range(128)),
    bytes(ord(chr(c).lower()) if chr(c).isalnum() or chr(c) == "_" else ord(" ") for c in range(128)),
)


def asks_when(query: str) -> bool:
    return finds_cue("questions.when", query)


def asks_how_many(query: str) -> bool:
    return finds_cue("questions.how_many", query)


def names_number(text: str) -> bool:
    """Returns whether a text says how many, the name it may open with left out."""
    speaker = _SPEAKER.match(text)
    start = speaker.end() if speaker else 0
    return _DIGIT.search(text, start) is not None or finds_cue("numbers.words", text[start:])


def role_shares(query: str) -> dict[str, float]:
    """Returns how much each role's turns are asked for: people ask about themselves, or about what they were told."""
    if finds_cue("questions.to_assistant", query):
        return {"assistant": 1.0, "user": 0.5}
    return {"user": 1.0}


def asks_about_self(query: str, user: str) -> bool:
    """Returns whether somebody asks about himself, in the first person or by the name that is his id."""
    return _names_self(query) or any(len(word) > 2 for word in name_words(user) & name_words(query))


def asks_something(text: str) -> bool:
    """Returns whether a turn asks: it then seldom holds an answer, but the turn after it often does."""
    return _QUESTION_MARK.search(text) is not None or ends_like_question(text)


def statement_share(text: str) -> float:
    """Returns how much of a text asks nothing, in [0, 1]: a question at the end does not undo what was said before."""
    if _QUESTION_MARK.search(text) is None:
        return 1.0
    asked = sum(len(clause) for clause in _CLAUSE.findall(text) if _QUESTION_MARK.match(clause[-1:]))
    return 1.0 - asked / len(text)


def substance(tokens: int) -> float:
    """Returns a number in [0, 1]: greetings and thanks are short, and rarely what was asked for."""
    return min(max(tokens, 0) / FULL_SUBSTANCE, 1.0)


def name_words(query: str) -> frozenset[str]:
    """Returns the words of a query by which it may name a speaker."""
    return frozenset(_WORD.findall(query.lower()))


def speaker_of(text: str) -> str | None:
    """Returns who speaks, where a text opens with it, as in "Ada: hello"."""
    speaker = _SPEAKER.match(text)
    return None if speaker is None else speaker.group(1).lower()


def words(text: str) -> list[str]:
    """Returns all words in lower case, in order, repeats included."""
    if text.isascii():  # most text, and three times as fast as the pattern
        return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()
    return [word for run in _RUN.finditer(text.lower()) for word in _cut_run(run)]


def keywords(query: str) -> tuple[str, ...]:
    """Returns K: the distinct words of three or more characters in order of appearance; CJK bigrams are kept."""
    distinct = dict.fromkeys(words(query))
    return tuple(word for word in distinct if len(word) >= MIN_KEYWORD or _CJK_RUN.fullmatch(word))


def _names_self(query: str) -> bool:
    """Returns whether a first person is asked about; whoever says "how do I" or "can I" asks about the world."""
    normal = normalise(query)
    return any(
        language.finds("questions.about_self", language.leave_out("questions.how_to", normal))
        for language in find_readings(query)
    )


def _cut_run(run: re.Match[str]) -> Sequence[str]:
    """Cuts a run of two or more CJK characters into overlapping pairs."""
    word = run.group()
    if run.group(1) is None or len(word) == 1:
        return (word,)
    return [word[i : i + 2] for i in range(len(word) - 1)]
