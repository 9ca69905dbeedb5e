"""What every benchmark comes down to: users with sessions of turns, and questions with known evidence."""

from dataclasses import dataclass, replace
from typing import Literal, Self

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
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
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
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
    questions: tuple[Question, ...]
    skipped: int  # questions without evidence: nothing can be found for them
    dangling: int  # evidence that names no turn of its conversation

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for conversation in self.conversations for turn in conversation.turns)

    def first(self, conversations: int) -> Self:
        """The same without the later conversations."""
        kept = self.conversations[:conversations]
        names = {conversation.id for conversation in kept}
        questions = tuple(question for question in self.questions if question.conversation in names)
        return replace(self, conversations=kept, questions=questions)
