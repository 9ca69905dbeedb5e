"""Reads languages from their data files; to add one is to add a file (docs/languages.md)."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, Final, cast, get_args

import Stemmer

from lithify.errors import Misconfigured
from lithify.memory.languages.cue import Spacing, compile_phrases, split_phrases
from lithify.memory.languages.writing import SCRIPTS, fold_accents, normalise

ENGLISH: Final = "en"
MONTHS: Final = 12

# Every cue a file may have, by table and field; all are optional.
CUES: Final[Mapping[str, tuple[str, ...]]] = {
    "questions": ("words", "when", "endings", "how_many", "to_assistant", "about_self", "how_to"),
    "numbers": ("words",),
    "dates": ("weekdays", "relative", "other", "undated"),
    "tenses": ("latest", "past", "change"),
    "order": (
        *("how_many_days", "how_long", "before_or_after", "first_or_earlier", "since_or_between", "when_did"),
        *("asked", "boundaries", "either_or", "filler"),
    ),
    "self": ("subject", "words"),
    "negation": ("words",),
    "instructions": (
        *("lasting", "openers", "orders", "speech", "infinitives", "requests", "wishes", "wished"),
        *("passing", "kindness", "limited", "answers", "subordinate", "subject_told", "narrated", "habits", "pleas"),
    ),
    "gate": ("facts", "own", "names", "lasting", "chatter", "reactions", "passing", "you", "requests"),
}
_PLAIN: Final = ("code", "name", "scripts", "spacing", "stemmer", "letters", "capitals", "clitics", "imperative")
_WORDS: Final = ("stop_words", "common", "forms")
# Cues whose words also tell the language of a text. Those of facts do not: a server and a budget are international.
_TELLING: Final = (
    *("questions.words", "questions.when", "self.words", "negation.words", "dates.weekdays", "dates.relative"),
    *("instructions.lasting", "gate.chatter", "gate.requests"),
)
_PHRASE_SIGNS: Final = re.compile(r"[*()|\\?{}…]")


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """What a data file says about one language. Cues look at texts that went through `normalise`."""

    code: str
    name: str
    scripts: tuple[str, ...]
    stop_words: frozenset[str]
    spacing: Spacing = "words"
    stemmer: str | None = None
    letters: frozenset[str] = frozenset()
    capitals: str = "none"  # what is written with a capital inside a sentence: names, nouns, or nothing
    clitics: tuple[str, ...] = ()
    imperative: str = "first"  # where the verb of an order stands in its clause: first, or last
    forms: Mapping[str, str] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)  # 1 to 12 by each of its names, in lower case
    vocabulary: frozenset[str] = frozenset()  # words by which the language is told
    phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by "table.field"
    _patterns: dict[str, re.Pattern[str] | None] = field(default_factory=dict, repr=False)

    def find_pattern(self, cue: str) -> re.Pattern[str] | None:
        """Returns the pattern of a cue, compiled when it is first asked for; None if the file has no such cue.

        Raises Misconfigured for a phrase that cannot be read.
        """
        if cue not in self._patterns:
            self._patterns[cue] = self._compile(cue)
        return self._patterns[cue]

    def finds(self, cue: str, normal: str) -> bool:
        """Returns whether a cue such as "questions.when" is in a text."""
        pattern = self.find_pattern(cue)
        return pattern is not None and pattern.search(normal) is not None

    def count(self, cue: str, normal: str) -> int:
        """Counts where a cue is found in a text."""
        pattern = self.find_pattern(cue)
        return 0 if pattern is None else sum(1 for _ in pattern.finditer(normal))

    def leave_out(self, cue: str, normal: str) -> str:
        """Returns a text with blanks where a cue was."""
        pattern = self.find_pattern(cue)
        return normal if pattern is None else pattern.sub(" ", normal)

    def _compile(self, cue: str) -> re.Pattern[str] | None:
        try:
            return compile_phrases(self.phrases.get(cue, ()), self.spacing, self.clitics)
        except re.error as error:
            raise Misconfigured(
                f"{self.code}.toml: the field {cue} holds a phrase that cannot be read: {error}"
            ) from error


@cache
def load_languages() -> Mapping[str, Language]:
    """Returns the shipped languages by their codes; their files are read once."""
    return read_languages(files(__package__))


def read_languages(folder: Traversable) -> Mapping[str, Language]:
    """Reads every data file of a folder. Raises Misconfigured with the file and field that is wrong."""
    sources = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    languages = [read_language(source.name, source.read_text("utf-8")) for source in sources]
    return MappingProxyType({language.code: language for language in languages})


def read_language(source: str, content: str) -> Language:
    """Reads one language from the text of its file, which is named like its code."""
    try:
        data = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{source} is no TOML: {error}") from error
    _check_fields(source, data)
    phrases = dict(_read_phrases(data))
    stop_words = data["stop_words"].lower().split()
    return Language(
        code=data["code"],
        name=data["name"],
        scripts=tuple(data["scripts"]),
        stop_words=frozenset(form for word in stop_words for form in (word, fold_accents(word), normalise(word))),
        spacing=cast("Spacing", data.get("spacing", "words")),
        stemmer=data.get("stemmer"),
        letters=frozenset(data.get("letters", "")),
        capitals=data.get("capitals", "none"),
        clitics=tuple(map(normalise, data.get("clitics", ()))),
        imperative=data.get("imperative", "first"),
        forms=dict(_read_forms(data.get("forms", ""))),
        months=dict(_read_months(data)),
        vocabulary=_read_vocabulary(data, phrases),
        phrases=phrases,
    )


def _check_fields(source: str, data: Mapping[str, Any]) -> None:
    for name in ("code", "name", "scripts", "stop_words"):
        if not data.get(name):
            raise Misconfigured(f"{source}: the field {name} is missing")
    if unknown := data.keys() - {*_PLAIN, *_WORDS, *CUES}:
        raise Misconfigured(f"{source}: there is no field {min(unknown)}; docs/languages.md lists them")
    if f"{data['code']}.toml" != source:
        raise Misconfigured(f"{source}: the field code is {data['code']!r}; a file is named like its code")
    choices = (
        ("scripts", data["scripts"], tuple(SCRIPTS)),
        ("spacing", [data.get("spacing", "words")], get_args(Spacing)),
        ("capitals", [data.get("capitals", "none")], ("names", "nouns", "none")),
        ("imperative", [data.get("imperative", "first")], ("first", "last")),
        ("stemmer", [data["stemmer"]] if "stemmer" in data else [], tuple(Stemmer.algorithms())),
    )
    for name, values, known in choices:
        if wrong := [value for value in values if value not in known]:
            raise Misconfigured(f"{source}: the field {name} has {wrong[0]!r}; known are {', '.join(known)}")
    for table, fields in CUES.items():
        _check_table(source, table, data.get(table, {}), fields)


def _check_table(source: str, table: str, values: Mapping[str, Any], fields: tuple[str, ...]) -> None:
    for name, value in values.items():
        if table == "dates" and name == "months":
            if not isinstance(value, list) or len(value) != MONTHS:
                raise Misconfigured(f"{source}: the field dates.months must be a list of {MONTHS} names")
        elif name not in fields:
            raise Misconfigured(f"{source}: there is no field {table}.{name}; known are {', '.join(fields)}")
        elif not isinstance(value, str):
            raise Misconfigured(
                f"{source}: the field {table}.{name} must be a text of phrases with commas between them"
            )


def _read_phrases(data: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for table, fields in CUES.items():
        for name in fields:
            if phrases := split_phrases(data.get(table, {}).get(name, "")):
                yield f"{table}.{name}", phrases


def _read_forms(text: str) -> Iterator[tuple[str, str]]:
    for line in text.strip().splitlines():
        for base, *forms in map(str.split, line.split("/")):
            yield from ((form, base) for form in forms)


def _read_months(data: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for number, names in enumerate(data.get("dates", {}).get("months", ()), 1):
        for name in names.split("|"):
            plain = normalise(name)
            yield from ((form, number) for form in (plain, fold_accents(plain)))


def _read_vocabulary(data: Mapping[str, Any], phrases: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Returns the words that tell the language: whole words of the file, as written and without accents."""
    telling = [phrase for name in _TELLING for phrase in phrases.get(name, ())]
    spoken = " ".join(phrase for phrase in telling if not _PHRASE_SIGNS.search(phrase))
    words = f"{data['stop_words']} {data.get('common', '')} {spoken}".replace("'", " ").split()
    plain = {normalise(word.strip(".")) for word in words}
    return frozenset(form for word in plain for form in (word, fold_accents(word)))
