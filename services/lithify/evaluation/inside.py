"""Searches an ingested work folder from inside the process, by the code that answers hosts, without HTTP between."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.retrieval import RecallQuery, Retriever
from lithify.assembly.recall.search import rank_found, search_query
from lithify.assembly.schema import SearchRequest
from lithify.embedding.relevance_file import find_calibration
from lithify.embedding.tier_calibration import calibrated_cascade
from lithify.errors import Unavailable
from lithify.evaluation.answers import LIMIT
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.question_vectors import QuestionVectorFile
from lithify.evaluation.run import ingest_once, run_node
from lithify.evaluation.workplace import Workplace
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.profile import Profile
from lithify.memory.vectors.cascade import Cascade
from lithify.node.parts import open_model, open_store
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

UNHURRIED = float("inf")


@dataclass(frozen=True, slots=True)
class IngestedMemory:
    """An ingested memory and what to ask it with; `cascade` only where the model's tiers are calibrated."""

    retriever: Retriever
    cascade: Cascade | None = None

    @property
    def by_tiers(self) -> Retriever:
        return replace(self.retriever, cascade=self.cascade)


@asynccontextmanager
async def open_ingested(
    dataset: Dataset, workplace: Workplace, settings: Settings, progress: Progress
) -> AsyncIterator[IngestedMemory]:
    """Opens the memory of a folder, and ingests first what is not there yet; no node may be running on the folder."""
    if not workplace.is_ingested:
        with run_node(workplace, settings) as memory:
            ingest_once(memory, dataset, workplace, progress)
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        store = await open_store(settings.model_copy(update={"data_dir": workplace.data_dir}), model.embedder, stack)
        embedder = stack.enter_context(QuestionVectorFile(model.embedder, workplace.folder))
        cascade = calibrated_cascade(model.embedder, settings.models_dir)
        yield IngestedMemory(
            Retriever(
                store,
                embedder,
                model.analyser,
                model.executor,
                calibration=find_calibration(model.embedder, settings.models_dir),
            ),
            # How far a busy machine gets in time must not decide what is found.
            replace(cascade, deadline_ms=UNHURRIED) if cascade.lower else None,
        )


@dataclass(frozen=True, slots=True)
class SharedRetrieval:
    """Asks one question in many ways: what needs the same candidates is ranked from one retrieval."""

    question: EvidenceQuestion
    _found: dict[tuple[bool, RecallQuery], FoundMemories] = field(default_factory=dict)

    async def search(self, retriever: Retriever, profile: Profile, limit: int = LIMIT) -> tuple[str, ...]:
        """Returns event ids as `search` ranks them."""
        request = self._request(limit)
        found = await self._retrieve(retriever, search_query(request, profile))
        return tuple(name_of(row.candidate) for row in rank_found(found, request, profile, self.question.now))

    async def candidates(self, retriever: Retriever, profile: Profile) -> list[Candidate]:
        """Returns what `search` has to rank."""
        return (await self._retrieve(retriever, search_query(self._request(LIMIT), profile))).candidates

    def _request(self, limit: int) -> SearchRequest:
        question = self.question
        return SearchRequest(query=question.text, user=question.conversation, limit=limit, now=question.now)

    async def _retrieve(self, retriever: Retriever, wanted: RecallQuery) -> FoundMemories:
        key = (retriever.cascade is None, wanted)
        if key not in self._found:
            self._found[key] = refuse_partial(await retriever.retrieve(scope_of(self.question), wanted))
        return self._found[key]


def refuse_partial(found: FoundMemories) -> FoundMemories:
    """Raises Unavailable for an answer that lacks a part: its figures would be those of a broken machine."""
    if found.degraded:
        raise Unavailable(f"a question was answered in part only: {'; '.join(found.degraded)}")
    return found


def name_of(candidate: Candidate) -> str:
    """Returns the event id; what was made of no turn keeps its place under its own id."""
    return candidate.source_turn or candidate.id


def scope_of(question: EvidenceQuestion) -> TenantScope:
    return TenantScope(DEFAULT_TENANT, question.conversation, shared=True)
