"""What every benchmark comes down to: users with sessions of turns, and questions with known evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar

from lithify.errors import Invalid
from lithify.events.turn import MAX_TEXT_CHARS

Role = Literal["user", "assistant"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DatasetTurn:
    """A turn as it is sent: ids are unique over the whole data set, times in milliseconds."""

    event_id: str
    session: str
    role: Role
    text: str
    ts: int
    seq: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything one user said and heard; the user is named like the conversation."""

    id: str
    turns: tuple[DatasetTurn, ...]
    cut_turns: int = 0  # longer than the gateway takes, and shortened


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """Asked about one conversation; `evidence` are event ids, `sessions` the sessions that hold the answer."""

    id: str
    conversation: str
    text: str
    category: str
    evidence: frozenset[str]
    sessions: frozenset[str]
    now: int


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    sha256: str
    conversations: tuple[Conversation, ...]
    questions: tuple[EvidenceQuestion, ...]
    skipped: int  # questions without evidence: nothing can be found for them
    dangling: int  # evidence that names no turn of its conversation

    @property
    def turns(self) -> tuple[DatasetTurn, ...]:
        return tuple(turn for conversation in self.conversations for turn in conversation.turns)

    @property
    def cut_turns(self) -> int:
        return sum(conversation.cut_turns for conversation in self.conversations)

    def sample(self, questions: int) -> Self:
        """Returns the same with so many of the questions, from the first to the last."""
        return replace(self, questions=tuple(spread_evenly(self.questions, questions)))

    def first(self, conversations: int) -> Self:
        """The same without the later conversations."""
        kept = self.conversations[:conversations]
        names = {conversation.id for conversation in kept}
        questions = tuple(question for question in self.questions if question.conversation in names)
        return replace(self, conversations=kept, questions=questions)


def spread_evenly(items: Sequence[T], count: int) -> Iterator[T]:
    """Yields so many of the items, from the first to the last, without a draw."""
    kept = min(count, len(items))
    return (items[place * len(items) // kept] for place in range(kept))


SECOND_MS = 1_000
# Where a file has no dates at all, any will do; turns and questions only need an order.
UNDATED_START_MS = 1_672_531_200_000  # 2023-01-01
# Nobody asks in the same second in which the last answer was given.
PAUSE_MS = 3_600_000
ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One turn as the file has it; `at` is the date of its session."""

    id: str
    session: str
    speaker: str
    text: str
    at: int | None


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """One question as the file has it; sessions unset are those of the evidence."""

    id: str
    conversation: str
    text: str
    category: str
    evidence: Sequence[str]
    sessions: Sequence[str] | None = None
    at: int | None = None


def build_dataset(
    name: str, sha256: str, lines: Mapping[str, Sequence[SourceTurn]], asked: Sequence[SourceQuestion]
) -> Dataset:
    """Raises Invalid where an id is used twice, or a question is about a conversation that is not there."""
    conversations = {conv: build_conversation(conv, spoken) for conv, spoken in lines.items()}
    _refuse_repeated("question", [question.id for question in asked])
    questions = [build_question(question, _of(conversations, question)) for question in asked]
    answerable = tuple(question for question in questions if question.evidence or question.sessions)
    dangling = sum(len(set(a.evidence)) - len(q.evidence) for a, q in zip(asked, questions, strict=True))
    skipped = len(questions) - len(answerable)
    return Dataset(
        name=name,
        sha256=sha256,
        conversations=tuple(conversations.values()),
        questions=answerable,
        skipped=skipped,
        dangling=dangling,
    )


def build_conversation(conversation: str, lines: Sequence[SourceTurn]) -> Conversation:
    spoken = [line for line in lines if line.text.strip()]
    _refuse_repeated(f"turn of {conversation}", [line.id for line in spoken])
    roles, prefixed = assign_roles([line.speaker for line in spoken])
    texts = {line.id: f"{line.speaker}: {line.text}" if prefixed else line.text for line in spoken}
    turns = (
        DatasetTurn(
            event_id=qualify(conversation, line.id),
            session=qualify(conversation, line.session),
            role=roles[line.speaker],
            # One turn that the gateway refuses must not stop a run of thousands.
            text=texts[line.id][:MAX_TEXT_CHARS],
            ts=ts,
            seq=seq,
        )
        for line, ts, seq in place_lines(spoken)
    )
    cut_turns = sum(len(text) > MAX_TEXT_CHARS for text in texts.values())
    return Conversation(conversation, tuple(turns), cut_turns)


def build_question(asked: SourceQuestion, conversation: Conversation) -> EvidenceQuestion:
    homes = {turn.event_id: turn.session for turn in conversation.turns}
    evidence = {name for turn in asked.evidence if (name := qualify(conversation.id, turn)) in homes}
    named = {homes[turn] for turn in evidence}
    if asked.sessions is not None:
        named = {qualify(conversation.id, session) for session in asked.sessions} & set(homes.values())
    last = max((turn.ts for turn in conversation.turns), default=UNDATED_START_MS)
    return EvidenceQuestion(
        id=asked.id,
        conversation=conversation.id,
        text=asked.text,
        category=asked.category,
        evidence=frozenset(evidence),
        sessions=frozenset(named),
        now=max(asked.at or 0, last + PAUSE_MS),
    )


def assign_roles(speakers: Sequence[str]) -> tuple[dict[str, Role], bool]:
    """Role names stand for themselves; of named people the first is the user, and their names belong to the text."""
    names = list(dict.fromkeys(speakers))
    if all(name in ROLES for name in names):
        return dict(ROLES), False
    return {name: "assistant" if place else "user" for place, name in enumerate(names)}, True


def place_lines(lines: Sequence[SourceTurn]) -> Iterator[tuple[SourceTurn, int, int]]:
    """Each line with its time and its place in the session: a second apart, from the session's date on."""
    starts: dict[str, int] = {}
    spoken: Counter[str] = Counter()
    last = UNDATED_START_MS
    for line in lines:
        start = starts.setdefault(line.session, last + PAUSE_MS if line.at is None else line.at)
        last = start + spoken[line.session] * SECOND_MS
        yield line, last, spoken[line.session]
        spoken[line.session] += 1


def qualify(conversation: str, name: str) -> str:
    """Benchmarks number turns and sessions anew in each conversation; memory wants them unique."""
    return f"{conversation}:{name}"


def _of(conversations: Mapping[str, Conversation], asked: SourceQuestion) -> Conversation:
    found = conversations.get(asked.conversation)
    if found is None:
        raise Invalid(f"question {asked.id!r} is about conversation {asked.conversation!r}, which has no turns")
    return found


def _refuse_repeated(what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Invalid(f"{what} {name!r} is there twice")
        seen.add(name)
