"""What the assembly service is asked and what it answers."""

from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, computed_field, model_validator

from lithify.assembly.prompt.messages import find_topic
from lithify.events.turn import MAX_TS_MS, Identifier, Role, Text, check_depth
from lithify.memory.ranking.duplicates import RELEVANCE_SHARE
from lithify.memory.ranking.fusion import DEFAULT_WEIGHTS, Fusion
from lithify.memory.ranking.recency import HALF_LIFE_DAYS
from lithify.store.memory_record import COLLECTION

MAX_LIMIT = 1000
MAX_BUDGET = 10_000_000
MAX_MESSAGES = 4096
MAX_MULTIPLIER = 16
MAX_DEPTH = 4 * MAX_LIMIT  # places of one list
MAX_DAYS = 36_500
MIN_DEADLINE_MS = 10
MAX_DEADLINE_MS = 120_000


def _trim(value: str) -> str:
    return value.strip()


QueryText = Annotated[Text, AfterValidator(_trim)]
MinScore = Annotated[float, Field(ge=0, le=1)]
Now = Annotated[
    int | None,
    Field(
        ge=0, le=MAX_TS_MS, description="Ask as of this time in ms: a replay, which leaves no mark in access counts."
    ),
]
DeadlineMs = Annotated[
    int | None,
    Field(ge=MIN_DEADLINE_MS, le=MAX_DEADLINE_MS, description="Time to answer in ms; what is slower is left out."),
]


def readable_path(record_id: str) -> str:
    """Returns the path by which a hit can be opened later (spec 01 §5)."""
    return f"{quote(COLLECTION, safe='')}::{quote(record_id, safe='')}"


class Filters(BaseModel):
    """Narrows a search; everything left out is not asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: tuple[Literal["turn", "memory", "summary", "authored", "guidance"], ...] | None = Field(None, max_length=16)
    roles: tuple[Role, ...] | None = Field(None, max_length=16)
    agent: Identifier | None = None
    source_ref: Identifier | None = None
    since: int | None = Field(None, ge=0, le=MAX_TS_MS, description="Earliest event time in ms, included.")
    until: int | None = Field(None, ge=0, le=MAX_TS_MS, description="Latest event time in ms, included.")


# Fields that say something only beside another one, and what that one must be.
COMPANIONS: Final = (
    ("vector_weight", "fusion", "weighted"),
    ("half_life_days", "decay", True),
    ("relevance_share", "mmr", True),
    ("threshold", "mmr", True),
)


class SearchRequest(BaseModel):
    """A question to the memory of a tenant, or of one of its users.

    From `fusion` on, fields choose how this one search ranks; unset, the profile decides.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QueryText = Field("", description="An empty query finds nothing and is no error.")
    user: Identifier | None = Field(None, description="Only this user's memory; unset searches the whole tenant.")
    session: Identifier | None = Field(
        None, description="Where it is asked: its records rank slightly above equal ones of the user, and shared ones."
    )
    only_session: bool = Field(False, description="Whether only records of `session` are searched.")
    limit: int = Field(8, ge=1, le=MAX_LIMIT)
    mode: Literal["hybrid", "dense", "lexical"] = "hybrid"
    filters: Filters = Filters()
    min_score: MinScore = Field(0.0, description="Least `score` of a hit; 0 leaves nothing out.")
    fusion: Fusion | None = Field(
        None, description="Ranks each record by itself: by its ranks in both lists, or by weighted scores."
    )
    vector_weight: float | None = Field(
        None, ge=0, le=1, description=f"Of meaning in the weighted fusion, {DEFAULT_WEIGHTS[0]}; words have the rest."
    )
    multiplier: int | None = Field(
        None, ge=1, le=MAX_MULTIPLIER, description="Candidates each list is asked for, times `limit`."
    )
    decay: bool | None = Field(None, description="Whether memories lose weight with age.")
    half_life_days: float | None = Field(None, gt=0, le=MAX_DAYS, description=f"Of the decay, {HALF_LIFE_DAYS:g}.")
    mmr: bool | None = Field(None, description="Whether variety is wanted.")
    relevance_share: float | None = Field(
        None, ge=0, le=1, description=f"λ of variety, {RELEVANCE_SHARE}: 1 is relevance alone, 0 variety alone."
    )
    threshold: float | None = Field(None, ge=-1, le=1, description="Ends the picking of varied hits below this value.")
    now: Now = None
    deadline_ms: DeadlineMs = None

    @model_validator(mode="after")
    def refuse_contradictions(self) -> Self:
        """Refuses a choice that could have no effect: whoever makes it expects one."""
        if self.only_session and self.session is None:
            raise ValueError("only_session: needs a session")
        if self.fusion is not None and self.mode != "hybrid":
            raise ValueError(f"fusion: needs both lists, and mode {self.mode!r} has one")
        if (self.multiplier or 0) * self.limit > MAX_DEPTH:
            raise ValueError(f"multiplier: times limit it may be {MAX_DEPTH} at most")
        for name, choice, wanted in COMPANIONS:
            if getattr(self, name) is not None and getattr(self, choice) != wanted:
                raise ValueError(f"{name}: says nothing without {choice} {str(wanted).lower()}")
        return self


class SearchHit(BaseModel):
    id: str
    event_id: str | None
    kind: str
    score: float = Field(description="How probable it is that this helps, in [0, 1], whatever else was found.")
    components: dict[str, float]
    text: str
    role: str | None
    user: str
    session: str | None
    ts: int
    seq: int | None
    superseded_by: str | None = Field(None, description="The memory that says the same anew.")
    excerpt: str | None = Field(None, description="Of a long text, the piece that answers best.")

    @computed_field(description="Opens the record later: GET /v1/memories/{path}.")  # type: ignore[prop-decorator]
    @property
    def path(self) -> str:
        return readable_path(self.id)


class SearchResponse(BaseModel):
    hits: list[SearchHit]
    degraded: list[str] = Field(description="What could not be consulted; empty when all was well.")
    trace_id: str


HostMessage = Annotated[
    dict[str, Any],
    AfterValidator(check_depth),
    WithJsonSchema(
        {
            "type": "object",
            "title": "Message",
            "description": "A message of the host's own prompt, in any API's form; it comes back untouched.",
            "properties": {
                "role": {"description": "Whose it is."},
                "content": {"description": "Text, parts of which the textual ones count, or null beside tool calls."},
                "id": {"description": "event_id of the turn, if it was sent to memory; without it the words tell."},
            },
            "additionalProperties": True,
        }
    ),
]


class IncludeDocs(BaseModel):
    """Says which documents may join a prompt, and how much of the budget they may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repos: tuple[Annotated[str, Field(pattern=r"^[\w.-]+$", max_length=128)], ...] = Field((), max_length=64)
    share: float = Field(0.25, gt=0, le=0.9, description="Of the memory budget, at most.")
    tokens: int | None = Field(None, ge=0, le=MAX_BUDGET, description="At most, if that is less than the share.")
    limit: int = Field(4, ge=1, le=20, description="Pieces, at most.")


class AssembleRequest(BaseModel):
    """Asks for the memory part of the next prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: Identifier
    session: Identifier
    token_budget: int = Field(ge=0, le=MAX_BUDGET, description="Tokens the memory part may cost, everything included.")
    query: QueryText | None = Field(None, description="What the prompt is about; the user's last words if absent.")
    messages: tuple[HostMessage, ...] = Field((), max_length=MAX_MESSAGES)
    form: Literal["addition", "messages", "split"] = Field(
        "addition",
        description="Memory as `text` for the system prompt, as one system message among `messages`, or split into "
        "`stable` and `fresh` for prompt caches.",
    )
    order: Literal["time", "score"] = Field(
        "time", description="How recalled memories are shown: as they were said, passage by passage, or best first."
    )
    include_docs: bool | IncludeDocs = Field(False, description="Whether and which documents join; true takes all.")
    min_score: MinScore | None = Field(
        None, description="Least `score` of a memory that is shown; the profile's `relevance_floor` if absent."
    )
    now: Now = None
    deadline_ms: DeadlineMs = None

    @property
    def topic(self) -> str:
        """Says what the prompt is about: the query, else the user's last words."""
        return find_topic(self.messages) if self.query is None else self.query

    @property
    def documents(self) -> IncludeDocs | None:
        """Says which documents may join; None if none are wanted."""
        if isinstance(self.include_docs, bool):
            return IncludeDocs() if self.include_docs else None
        return self.include_docs


class Entry(BaseModel):
    """One text inside a block."""

    id: str
    event_id: str | None = Field(description="The turn it came from, if it came from one.")
    memory_id: str | None = Field(None, description="Opens the whole record: GET /v1/memories/{memory_id}.")
    text: str = Field(description="The words as they are shown, before they were quoted.")
    role: str = Field(description="The speaker, by the name the text gives him.")
    source: Literal["authored", "session", "recalled", "document"]
    kind: str = Field(description="What it is: rule, turn, memory, summary, authored, guidance or document.")
    session: str | None = Field(None, description="The conversation it was said in.")
    ts: int | None = Field(None, description="When it was said, in ms; of a summary, when its newest turn was.")
    excerpt: bool = Field(False, description="Whether the text is a part of what was said; `[…]` stands for the rest.")
    superseded_by: str | None = Field(None, description="The memory that says the same anew.")
    tokens: int
    score: float | None = None


class Block(BaseModel):
    name: str
    entries: list[Entry]


class AssembleResponse(BaseModel):
    text: str = Field(
        description="The memory part, to be put into the system prompt as it is; empty if there is none, "
        "in the form `messages`, where it is a message already, and in the form `split`."
    )
    stable: str = Field(
        "",
        description="In the form `split`: rules and standing instructions, byte for byte the same until one of them or "
        "the budget changes. For the system prompt.",
    )
    fresh: str = Field(
        "", description="In the form `split`: tail, recalled memories and documents. For the end of the prompt."
    )
    blocks: list[Block] = Field(description="The same as data, for hosts that render by themselves.")
    messages: list[dict[str, Any]] = Field(
        description="The host's messages, unchanged; in the form `messages` with one system message among them."
    )
    tokens: int = Field(description="Cost of all of the memory part; never above the budget unless `over_budget`.")
    over_budget: bool = Field(False, description="Whether hard rules alone exceed the budget; nothing else does.")
    degraded: list[str] = Field(description="What is missing or cut, and why; empty when all of it is there.")
    trace_id: str


class HeaderResponse(BaseModel):
    text: str
