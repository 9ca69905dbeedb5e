"""The host's own messages: what they ask about, which stored turns they show already, and memory put among them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lithify.events.turn import MAX_TEXT_CHARS
from lithify.events.utterance import USER, PieceKind, Utterance, join_pieces, read_pieces, read_utterance, role_of
from lithify.memory.normal_form import normalise_form
from lithify.memory.turn import Turn

SYSTEM: Final = "system"
MAX_ID_CHARS: Final = 256

Message = dict[str, Any]


def find_topic(messages: Sequence[Message]) -> str:
    """Returns the user's last words; where no user says anything, the last words of anybody.

    Results of tools are nobody's question, also where they are sent in the user's name.
    """
    others = ""
    for message in reversed(messages):
        said = read_utterance(message)
        if said.role == USER and said.text:
            return said.text[:MAX_TEXT_CHARS]
        others = others or said.text
    return others[:MAX_TEXT_CHARS]


def normalise_text(text: str) -> str:
    """Returns the text as it is compared: composed characters, single spaces."""
    return " ".join(_compose(text).split())


@dataclass(frozen=True, slots=True)
class ShownText:
    """Holds all that the messages say; a history of megabytes is compared as far as it is asked."""

    _texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by their first word
    _normalised: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, text: str) -> None:
        self._texts[_first_word(text)].append(text)

    def __contains__(self, text: str) -> bool:
        """Says whether a message, or a part of one, says exactly this."""
        first = _first_word(text)
        if not first or first not in self._texts:
            return False
        if first not in self._normalised:
            self._normalised[first] = frozenset(map(normalise_text, self._texts[first]))
        return normalise_text(text) in self._normalised[first]


@dataclass(frozen=True, slots=True)
class ShownTurns:
    """Holds what the host shows the model by itself: turns by their event ids, and everything else by its words."""

    ids: frozenset[str] = frozenset()
    texts: ShownText = field(default_factory=ShownText)

    def covers(self, event_id: str | None, text: str) -> bool:
        """Says whether a memory would say again what the model sees already."""
        return event_id in self.ids or text in self.texts

    def covers_all(self, event_ids: Sequence[str]) -> bool:
        """Says whether the model sees every one of these turns; no turns at all are not seen."""
        return bool(event_ids) and self.ids.issuperset(event_ids)


def find_shown(messages: Sequence[Message], turns: Sequence[Turn]) -> ShownTurns:
    """Returns what the host shows; `turns`, oldest first, are those of its session that can be told by their words.

    An id that a message carries is believed. Every other message stands for the newest turn left that has its speaker
    and its words, or those of one of its parts; two messages never stand for the same turn.
    """
    known = {turn.id for turn in turns}
    named = {found for message in messages if (found := _id_of(message))}
    texts = ShownText()
    unnamed = []
    for message in messages:
        sayings = read_sayings(message)
        for said in sayings:
            texts.add(said.text)
        # An id nobody here knows may be one that the model's API gave.
        if _id_of(message) not in known:
            unnamed.append(sayings)
    left = [turn for turn in turns if turn.id not in named and turn.text in texts]
    return ShownTurns(frozenset(named) | match_turns(unnamed, left), texts)


def read_sayings(message: Message) -> tuple[Utterance, ...]:
    """Returns what a message says as a whole and, where that is put together from several texts, each of them."""
    pieces = read_pieces(message)
    said = join_pieces(role_of(message), pieces)
    if not said.text:
        return ()
    if len(pieces) == 1:
        return (said,)
    words = [piece.text for piece in pieces if piece.kind is PieceKind.WORDS and piece.text.strip()]
    return (said, *(Utterance(said.role, text) for text in words)) if len(words) > 1 else (said,)


def match_turns(messages: Sequence[Sequence[Utterance]], turns: Sequence[Turn]) -> frozenset[str]:
    """Pairs messages with turns by speaker and words, both newest first; returns the ids of the turns."""
    waiting: dict[Utterance, list[str]] = defaultdict(list)
    for turn in turns:
        waiting[Utterance(turn.role, normalise_text(turn.text))].append(turn.id)
    firsts = {_first_word(turn.text) for turn in turns}
    shown = set()
    for said in (said for sayings in reversed(messages) for said in sayings if _first_word(said.text) in firsts):
        if left := waiting.get(Utterance(said.role, normalise_text(said.text))):
            shown.add(left.pop())
    return frozenset(shown)


def insert_memory(messages: Sequence[Message], text: str) -> list[Message]:
    """Puts one system message behind the host's own leading ones, which keep the first word."""
    if not text:
        return list(messages)
    leading = next((place for place, one in enumerate(messages) if role_of(one) != SYSTEM), len(messages))
    return [*messages[:leading], {"role": SYSTEM, "content": text}, *messages[leading:]]


def _id_of(message: Message) -> str | None:
    """Returns the event id of a message. APIs give messages ids of many kinds; what cannot be one of ours is none."""
    found = message.get("id")
    return found if isinstance(found, str) and 0 < len(found) <= MAX_ID_CHARS else None


def _first_word(text: str) -> str:
    return _compose(next(iter(text.split(None, 1)), ""))


def _compose(text: str) -> str:
    return text if text.isascii() else normalise_form("NFC", text)
