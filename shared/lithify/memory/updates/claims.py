"""Reads claims from a statement: "I live in Porto now" claims `residence` = Porto.

Precision comes first. A claim is only made where somebody has one value at a time (a home, a phone number, the date of
one meeting), the speaker states it of themselves or of one named thing, and nothing in the sentence makes it a wish, a
question, a condition, the past, or one of several that hold side by side. Everything else claims nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from lithify.memory.updates.grammar import LANGUAGES, Grammar, Template, load_grammar
from lithify.memory.updates.moments import read_moment, read_parts
from lithify.memory.updates.segments import Segment, read_speech, strip_time
from lithify.memory.updates.things import Thing, read_thing
from lithify.memory.updates.values import normal_words, read_value

MAX_ATTRIBUTE: Final = 100
MAX_SUBJECT: Final = 6  # words before the verb of a state
MAX_DISTANCE: Final = 3  # words between the verb and what may change
MAX_STATE: Final = 8  # words behind the verb
NUMBER: Final = "number:"
_NUMBER = re.compile(r"[$€£]?v?(\d{1,12}(?:[.,]\d{1,6}){0,3})[km%]?(?:[^\W\d_]{1,3}|[$€£])?")


@dataclass(frozen=True, slots=True)
class Claim:
    """One attribute and its value, in normal words.

    `ended` claims that the value holds no longer. `changed` says that a word told of a change. A `weak` claim is only
    out of date after one that tells of a change. A `local` one speaks of what only its conversation knows, as "the
    meeting". `exact` values differ where one has a word more. A `polar` one is about yes and no.
    """

    attribute: str
    value: frozenset[str]
    ended: bool = False
    changed: bool = False
    weak: bool = False
    local: bool = False
    exact: bool = False
    polar: bool = False


def read_claims(text: str) -> tuple[Claim, ...]:
    """Returns what the text claims, each attribute once, in the order of its sentences; usually nothing.

    An attribute of which it states two values has none: "I work at A, and I work at B".
    """
    found: dict[str, Claim] = {}
    torn: set[str] = set()
    for language in LANGUAGES:
        for claim in _read_language(text, load_grammar(language)):
            if claim.polar:
                found[f"{claim.attribute} {sorted(claim.value)}"] = claim
                continue
            first = found.setdefault(claim.attribute, claim)
            if first.ended and not claim.ended:
                found[claim.attribute] = claim
            elif first.value != claim.value and first.ended == claim.ended:
                torn.add(claim.attribute)
    return tuple(claim for claim in found.values() if claim.attribute not in torn)


def _read_language(text: str, grammar: Grammar) -> Iterator[Claim]:
    speech = read_speech(text, grammar)
    topic = ""
    for segment in speech.segments:
        named = _name_topic(segment, topic, grammar)
        topic = _find_topic(named, grammar) or topic
        for claim in _read_segment(named, grammar):
            attribute = f"{speech.speaker}|{claim.attribute}" if speech.speaker else claim.attribute
            yield replace(claim, attribute=attribute[:MAX_ATTRIBUTE])


def _name_topic(segment: Segment, topic: str, grammar: Grammar) -> Segment:
    """Puts what was spoken of before in the place of a pronoun: "it leaves at 11"."""
    first, _, rest = segment.text.partition(" ")
    if not topic or first not in grammar.words["it"]:
        return segment
    return replace(segment, text=f"{topic} {rest}", bare=f"{topic} {segment.bare.partition(' ')[2]}")


def _find_topic(segment: Segment, grammar: Grammar) -> str:
    for template in grammar.about:
        match = template.pattern.fullmatch(segment.text)
        if match is None:
            continue
        if "{thing}" not in template.attribute:
            return template.attribute
        if read_thing(match["thing"], grammar) is not None:
            return match["thing"]
    return ""


def _read_segment(segment: Segment, grammar: Grammar) -> list[Claim]:
    """Returns the claims of one segment, the first of each attribute; "I am a nurse at Mercy Hospital" makes two."""
    found: dict[str, Claim] = {}
    for template in grammar.templates:
        match = template.pattern.fullmatch(segment.text if template.timed else segment.bare)
        claim = None if match is None else _read_match(template, match, segment, grammar)
        if claim is not None:
            found.setdefault(claim.attribute, claim)
    if found:
        return list(found.values())
    claim = _read_state(segment, grammar) or _read_polar(segment, grammar)
    return [] if claim is None else [claim]


def _read_match(template: Template, match: re.Match[str], segment: Segment, grammar: Grammar) -> Claim | None:
    groups = match.groupdict()
    thing = read_thing(groups["thing"], grammar) if groups.get("thing") else None
    if thing is None and "{" in template.attribute and "{pair}" not in template.attribute:
        return None
    attribute = _name_pair(template, groups, grammar) if thing is None else _name_attribute(template, thing, grammar)
    noun = thing.noun if thing else None
    kind = template.kind or (noun.kind if noun else grammar.moment)
    value = read_value(kind, groups["value"], segment, grammar) if attribute else frozenset()
    if not value:
        return None
    is_broad = bool(kind.broad) and not grammar.words[kind.broad].isdisjoint(value)
    return Claim(
        attribute,
        value,
        ended=template.ended or segment.negated,
        changed=template.changed or segment.changed or bool(thing and thing.new),
        weak=template.weak or is_broad or bool(noun and noun.weak),
        local=bool(thing and thing.common),
        exact=template.exact or bool(noun and noun.exact),
    )


def _name_attribute(template: Template, thing: Thing, grammar: Grammar) -> str:
    """Returns whose and what, as "dog name"; nothing where the thing has no single value of that."""
    if "{person}" in template.attribute and thing.head not in grammar.words["persons"]:
        return ""
    if template.kind is None and thing.noun is not None:
        return thing.name
    suffix = template.attribute.partition(" ")[2]
    if suffix == "name" and thing.name.endswith(" name"):
        return thing.name
    if suffix == "time" and thing.noun is not None:
        return thing.name if thing.noun.kind == template.kind else ""
    return f"{thing.name} {suffix}"


def _name_pair(template: Template, groups: dict[str, str], grammar: Grammar) -> str:
    """Fills both sides of a preference into the name, in one order: which of them is liked better is the value."""
    if "{pair}" not in template.attribute:
        return template.attribute
    sides = sorted(" ".join(sorted(normal_words(groups[side].split(), grammar))) for side in ("value", "other"))
    return template.attribute.replace("{pair}", " ".join(sides))


def _read_state(segment: Segment, grammar: Grammar) -> Claim | None:
    """Reads a sentence of which one number, day or time may change: what stands before it is the attribute."""
    states = grammar.states
    upgrade = states.upgrade.fullmatch(segment.bare)
    words = f"{states.rewritten} {upgrade['value']}".split() if upgrade else segment.text.split()
    place = next((i for i, word in enumerate(words[: MAX_SUBJECT + 1]) if i and word in states.verbs), None)
    if place is None or segment.negated:
        return None
    thing = None if words[:place] in grammar.selves else read_thing(" ".join(words[:place]), grammar)
    if thing is None and words[:place] not in grammar.selves:
        return None
    verb = states.verbs[words[place]]
    read = _read_number(words[place + 1 :], verb, grammar) or _read_habit(words[place + 1 :], grammar)
    if read is None:
        return None
    frame, value = read
    numbered = any(part.startswith(NUMBER) for part in value)
    return Claim(
        " ".join((grammar.self_name if thing is None else thing.name, verb, *frame)),
        value,
        changed=segment.changed or upgrade is not None or (thing is not None and thing.new),
        weak=not numbered or (thing is None and verb in states.habits),
        local=thing is not None and thing.common,
    )


def _read_number(words: list[str], verb: str, grammar: Grammar) -> tuple[list[str], frozenset[str]] | None:
    """Returns the words around the only number, and the number."""
    rest = strip_time(" ".join(words), grammar).split()
    content = [word for word in rest if word not in grammar.words["fillers"]]
    found = [(place, match) for place, word in enumerate(content) if (match := _NUMBER.fullmatch(word))]
    if (
        len(found) != 1
        or len(content) > MAX_STATE
        or any(True for i in range(len(rest)) for _ in read_parts(rest, i, grammar.moments))
    ):
        return None
    [(place, match)] = found
    if place > grammar.states.distance.get(verb, MAX_DISTANCE):
        return None
    return [*content[:place], "#", *content[place + 1 :]], frozenset({f"{NUMBER}{match.group(1)}"})


def _read_habit(words: list[str], grammar: Grammar) -> tuple[list[str], frozenset[str]] | None:
    """Returns the words before the first day or time, and all days and times from there on."""
    places = [i for i in range(len(words)) if any(True for _ in read_parts(words, i, grammar.moments))]
    if not places:
        return None
    lead = grammar.words["fillers"] | grammar.moments.lead
    frame = [word for word in words[: places[0]] if word not in lead]
    value = read_moment(words[places[0] :], grammar.moments)
    return (frame, value) if value and len(frame) <= MAX_DISTANCE else None


def _read_polar(segment: Segment, grammar: Grammar) -> Claim | None:
    polar = grammar.polar
    ended = polar.ended.fullmatch(segment.text)
    match = ended or next((found for says in polar.says if (found := says.fullmatch(segment.text))), None)
    if match is None:
        return None
    value = normal_words((match["value"] or "").split(), grammar)
    if match["value"] and not value:
        return None
    return Claim(
        f"polar {_root(match['verb'])}",
        value,
        ended=segment.negated or ended is not None,
        changed=segment.changed or ended is not None,
        polar=True,
    )


def _root(verb: str) -> str:
    """Returns what the forms of a verb share: "smoke" and "smok-ing", "run" and "runn-ing"."""
    bare = verb.rstrip("e")
    return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] else bare
