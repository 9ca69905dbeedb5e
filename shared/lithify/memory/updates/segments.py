"""Cuts a text into segments, each what is said of one subject, in plain words that patterns can be held against."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lithify.memory.sentences import QUOTATION, is_question, leave_out_quotations, split_sentences
from lithify.memory.updates.grammar import Grammar

# Longer texts are pastes and stories; what they state in passing is not worth the risk.
MAX_CHARACTERS: Final = 1500
MAX_SEGMENT: Final = 200
MARKS: Final = frozenset((*",;:()[]", QUOTATION))

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(r"[^\s,;()\[\]!?]+|[,;()\[\]]")
_SPEAKER = re.compile(r"\s{0,8}([A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30}){0,2}):\s")


@dataclass(frozen=True, slots=True)
class Segment:
    """Words in lower case without adverbs; `names` are those that were written with a capital letter.

    `bare` leaves out words of time at the end. `changed` says that a word told of a change, `negated` that the
    statement was denied.
    """

    text: str
    bare: str
    names: frozenset[str]
    changed: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Speech:
    """Holds what somebody said; `speaker` is a name that the text opens with, as in "Ada: hello"."""

    speaker: str
    segments: tuple[Segment, ...]


def read_speech(text: str, grammar: Grammar) -> Speech:
    """Returns the statements of a text: no questions, no quotations, no suppositions, nothing hedged or past."""
    if len(text) > MAX_CHARACTERS:
        return Speech("", ())
    speaker, said = _split_speaker(leave_out_quotations(text), grammar)
    sentences = split_sentences(said, grammar.words["abbreviations"])
    return Speech(speaker, tuple(segment for one in sentences for segment in _read_sentence(one, grammar)))


def _split_speaker(text: str, grammar: Grammar) -> tuple[str, str]:
    match = _SPEAKER.match(text)
    if match is None:
        return "", text
    words = match.group(1).casefold().split()
    if not grammar.words["untitled"].isdisjoint(words):
        return "", text
    return " ".join(words), text[match.end() :]


def _read_sentence(sentence: str, grammar: Grammar) -> list[Segment]:
    """Returns the segments in their order; those behind a condition or a word of speech are not the speaker's own."""
    if is_question(sentence):
        return []
    tokens = _tokens(_THOUSANDS.sub("", sentence))
    names = frozenset(token.removesuffix("'s").casefold() for token in tokens if token[:1].isupper())
    segments: list[Segment] = []
    opening: list[str] = []
    speaker = ""
    for words in _cut_segments(_write_out(tokens, grammar), grammar):
        if words[0] in grammar.words["conditions"] or not grammar.words["speech"].isdisjoint(words):
            break
        if segments and grammar.retractions.match(" ".join(words)):
            segments.pop()
        subject = [speaker] if words[0] in grammar.words["inheriting"] and speaker else []
        segment = _make_segment([*opening, *subject, *words], names, grammar)
        speaker = words[0] if words[0] in grammar.words["selves"] else speaker
        # "Actually, ..." opens what comes behind the comma.
        opening = words if segment is None and grammar.words["lead-ins"].issuperset(words) else []
        if segment is not None:
            segments.append(segment)
    return segments


def _tokens(sentence: str) -> list[str]:
    """Returns words and marks; a dash between blanks is a mark too, and a colon behind a word."""
    tokens: list[str] = []
    for token in _TOKEN.findall(sentence):
        if not token.strip("-–—*•"):
            tokens.append(";")
            continue
        tokens.append(token.rstrip(".:\"'*…").lstrip("\"'*") or ";")
        if token.endswith(":"):
            tokens.append(":")
    return tokens


def _write_out(tokens: Sequence[str], grammar: Grammar) -> str:
    text = " ".join(grammar.contractions.get(token.casefold(), token.casefold()) for token in tokens)
    # Twice, for a phrase may be made of what another one left.
    for _ in range(2):
        text = grammar.phrase.sub(lambda found: grammar.phrases[found[0]], text)
    return text


def _cut_segments(text: str, grammar: Grammar) -> Iterator[list[str]]:
    """Yields the words between marks and conjunctions.

    After a noun that has one value a colon says `is`: "my new number: 555".
    """
    words: list[str] = []
    for word in text.split():
        if word == ":" and _is_noun(words, grammar):
            words += grammar.words["is"]
        elif word in MARKS or word in grammar.words["breaks"]:
            if words:
                yield words
            words = [word] if word in grammar.words["conditions"] else []
        else:
            words.append(word)
    if words:
        yield words


def _is_noun(words: Sequence[str], grammar: Grammar) -> bool:
    named = [word for word in words if word not in grammar.words["lead-ins"]]
    endings = [" ".join(named[start:]) for start in range(len(named))]
    found = next((grammar.nouns[ending] for ending in endings if ending in grammar.nouns), None)
    begins = grammar.words["owners"] | grammar.words["new"]
    # "Project Manager: hello" is somebody who speaks.
    is_whole = found is not None and (named[0] in begins or endings[0] in grammar.nouns)
    return is_whole and found is not None and found.kind.needs != "capital"


def _make_segment(words: Sequence[str], names: frozenset[str], grammar: Grammar) -> Segment | None:
    lists = grammar.words
    openers = next((i for i, word in enumerate(words) if word not in lists["lead-ins"]), len(words))
    said = words[openers:]
    if not said or sum(map(len, said)) > MAX_SEGMENT or grammar.blocked.search(" ".join(said)):
        return None
    negated = not lists["negations"].isdisjoint(said)
    dropped = lists["adverbs"] | lists["negations"] | (lists["carriers"] if negated else frozenset())
    kept = [grammar.numbers.get(word, word) for word in said if word not in dropped]
    text = grammar.front.sub("", " ".join(kept), count=1).strip()
    if not text:
        return None
    return Segment(text, strip_time(text, grammar), names, not lists["changes"].isdisjoint(words), negated)


def strip_time(text: str, grammar: Grammar) -> str:
    """Takes words of time off the end: "Zurich two weeks ago"."""
    for _ in range(3):
        text = grammar.whens.sub("", text)
    return text
