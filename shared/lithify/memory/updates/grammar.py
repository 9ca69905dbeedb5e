"""Reads the words of a language from its data file: with which patterns it states facts, and how it speaks of time."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("en",)

WORD: Final = r"[^\s]{1,40}"
# Every repetition has a bound and every pattern an anchor, so that no text can make matching slow.
GROUPS: Final = {"value": r"(?P<value>.{1,120})", "thing": rf"(?P<thing>{WORD}(?: {WORD}){{0,6}}?)"}
PATTERNS: Final = ("blocked", "retractions", "fleeting")


@dataclass(frozen=True, slots=True)
class ValueKind:
    """Says what a value has to look like; see the data file."""

    form: str = ""
    needs: str = ""
    least: int = 1
    most: int = 12
    cut: frozenset[str] = frozenset()
    inside: bool = False
    refuses: tuple[str, ...] = ()
    among: str = ""
    broad: str = ""
    any: bool = False
    skip: frozenset[str] = frozenset()
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Noun:
    """An attribute that somebody or something has one value of: its name, and the kind of value it takes."""

    name: str
    kind: ValueKind
    weak: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """One way to state a fact; see the data file for what its fields mean."""

    attribute: str
    pattern: re.Pattern[str]
    kind: ValueKind | None = None
    changed: bool = False
    weak: bool = False
    exact: bool = False
    ended: bool = False
    timed: bool = False  # a moment may be the value, so that words of time belong to it


@dataclass(frozen=True, slots=True)
class Moments:
    """Holds the names of days and times."""

    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    clocks: Mapping[str, str]
    halves: frozenset[str]
    ordinals: frozenset[str]
    lead: frozenset[str]
    at: frozenset[str]


@dataclass(frozen=True, slots=True)
class States:
    """Verbs of what is so, in any form, with their base form; and the words by which one version follows another."""

    verbs: Mapping[str, str]
    habits: frozenset[str]
    distance: Mapping[str, int]
    upgrade: re.Pattern[str]
    rewritten: str


@dataclass(frozen=True, slots=True)
class Polar:
    """Holds the ways to say something, and to say that it is over."""

    says: tuple[re.Pattern[str], ...]
    ended: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Grammar:
    """All that reading needs to know of one language."""

    words: Mapping[str, frozenset[str]]  # word lists by name
    contractions: Mapping[str, str]
    phrase: re.Pattern[str]
    phrases: Mapping[str, str]
    numbers: Mapping[str, str]
    moments: Moments
    blocked: re.Pattern[str]
    retractions: re.Pattern[str]
    fleeting: re.Pattern[str]
    front: re.Pattern[str]
    whens: re.Pattern[str]
    describing: tuple[str, ...]
    nouns: Mapping[str, Noun]
    named: Noun  # of "my favourite song": whatever is said of it
    moment: ValueKind  # of a thing that is no attribute: when it takes place
    selves: tuple[list[str], ...]  # words for the speaker alone
    self_name: str
    templates: tuple[Template, ...]
    about: tuple[Template, ...]
    states: States
    polar: Polar


@cache
def load_grammar(language: str) -> Grammar:
    """Returns the grammar of a shipped language; it is read once."""
    source = files(__package__).joinpath(f"{language}.toml").read_text("utf-8")
    data: dict[str, Any] = tomllib.loads(source)
    pieces = {name: any_of(words) for name, words in data["pieces"].items()}
    kinds = {name: _read_kind(entry) for name, entry in data["kinds"].items()}
    reading = {name: words for name, words in data["reading"].items() if name not in PATTERNS}
    lists = reading | {name: entry["words"] for name, entry in data["lists"].items()}
    nouns = _read_nouns(data["attribute"], kinds)
    lists["fields"] = data["states"]["fields"]
    lists["lead-ins"] = [*reading["openers"], *reading["adverbs"]]
    lists["untitled"] = [
        *lists["lead-ins"],
        *reading["owners"],
        *(n for n in nouns if nouns[n].kind.needs != "capital"),
    ]
    return Grammar(
        words={name: frozenset(words) for name, words in lists.items()},
        contractions=data["contractions"],
        phrase=re.compile(rf"(?<!\S){any_of([re.escape(old) for old in data['phrases']])}(?!\S)"),
        phrases=data["phrases"],
        numbers={word: str(value) for word, value in data["numbers"].items()},
        moments=_read_moments(data["moments"]),
        blocked=re.compile(any_of(data["reading"]["blocked"])),
        retractions=re.compile(data["reading"]["retractions"]),
        fleeting=re.compile(data["reading"]["fleeting"]),
        front=re.compile(data["whens"]["front"]),
        whens=re.compile(any_of(data["whens"]["patterns"])),
        describing=tuple(data["states"]["describing"]),
        nouns=nouns,
        named=Noun("", kinds["words"]),
        moment=kinds["moment"],
        selves=tuple([word] for word in reading["selves"]),
        self_name=reading["selves"][-1],
        templates=tuple(_read_template(entry, pieces, kinds) for entry in data["claim"]),
        about=tuple(_read_template(entry, pieces, kinds) for entry in data["about"]),
        states=_read_states(data["states"], pieces),
        polar=_read_polar(data["polar"], pieces),
    )


def any_of(patterns: list[str]) -> str:
    return f"(?:{'|'.join(patterns)})"


def compile_pattern(says: str, pieces: Mapping[str, str]) -> re.Pattern[str]:
    """Fills `<name>` pieces into a pattern; `<value>` and `<thing>` become the groups that are read."""
    for name, alternatives in pieces.items():
        says = says.replace(f"<{name}>", alternatives)
    for name, group in GROUPS.items():
        # A template may also write the group itself, to say what a value looks like.
        says = group.join(re.split(rf"(?<!\?P)<{name}>", says))
    return re.compile(says)


def _read_kind(entry: Mapping[str, Any]) -> ValueKind:
    lists = {name: frozenset(entry.get(name, ())) for name in ("cut", "skip")}
    return ValueKind(**{**entry, **lists, "refuses": tuple(entry.get("refuses", ()))})


def _read_moments(data: Mapping[str, Any]) -> Moments:
    return Moments(
        weekdays=_number_names(data["weekdays"]),
        months=_number_names(data["months"]),
        clocks=data["clocks"],
        halves=frozenset(data["halves"]),
        ordinals=frozenset(data["ordinals"]),
        lead=frozenset(data["lead"]),
        at=frozenset(data["at"]),
    )


def _number_names(names: list[list[str]]) -> dict[str, int]:
    return {name: number for number, same in enumerate(names, start=1) for name in same}


def _read_nouns(entries: list[dict[str, Any]], kinds: Mapping[str, ValueKind]) -> dict[str, Noun]:
    """Returns each noun with its attribute. With `own` each is one of its own, with `called` it is told by its name."""
    nouns: dict[str, Noun] = {}
    for entry in entries:
        for noun in entry["nouns"]:
            own = f"{noun} name" if entry.get("called") else noun if entry.get("own") else entry["name"]
            nouns[noun] = Noun(own, kinds[entry["kind"]], entry.get("weak", False), entry.get("exact", False))
    return nouns


def _read_template(entry: Mapping[str, Any], pieces: Mapping[str, str], kinds: Mapping[str, ValueKind]) -> Template:
    options = {name: value for name, value in entry.items() if name not in ("says", "attribute", "kind")}
    kind = kinds[entry["kind"]] if "kind" in entry else None
    timed = kind is None or kind.form == "moment"
    return Template(entry["attribute"], compile_pattern(entry["says"], pieces), kind, timed=timed, **options)


def _read_states(data: Mapping[str, Any], pieces: Mapping[str, str]) -> States:
    return States(
        verbs={form: base for base, forms in data["verbs"].items() for form in (base, *forms)},
        habits=frozenset(data["habits"]),
        distance=data["distance"],
        upgrade=compile_pattern(data["upgrades"], pieces),
        rewritten=data["as"],
    )


def _read_polar(data: Mapping[str, Any], pieces: Mapping[str, str]) -> Polar:
    return Polar(
        says=tuple(compile_pattern(says, pieces) for says in data["says"]),
        ended=compile_pattern(data["ended"], pieces),
    )
