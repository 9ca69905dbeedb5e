"""Builds docs memory of a process from its parts."""

from redis import Redis as BlockingRedis

from lithify.assembly.docs.service import DocsService
from lithify.assembly.traces import TraceBook
from lithify.docs.holdings import Holdings
from lithify.docs.jobs import LaneRuns
from lithify.docs.search import DocSearch
from lithify.docs.space import Space
from lithify.events import TenantScope, system_clock
from lithify.events.scope import DEFAULT_TENANT
from lithify.librarian.lane import LaneParts
from lithify.librarian.vectors import VectorParts
from lithify.node.parts import Model, RedisParts
from lithify.settings import Settings
from lithify.store import VectorStore

HOUR_S = 3_600


def holdings(model: Model, store: VectorStore) -> Holdings:
    return Holdings(store, model.analyser, model.executor, system_clock, Space.of(model.embedder))


def search(model: Model, store: VectorStore) -> DocSearch:
    return DocSearch(store, model.analyser, model.executor, Space.of(model.embedder), model.embedder)


def desk(settings: Settings, redis: RedisParts, model: Model, store: VectorStore, jobs: BlockingRedis) -> DocsService:
    return DocsService(
        holdings=holdings(model, store),
        search=search(model, store),
        redis=redis.client,
        jobs=jobs,
        traces=TraceBook(redis.client, settings.trace_hours * HOUR_S),
        clock=system_clock,
        deadline_ms=settings.assemble_deadline_ms,
    )


def lane(settings: Settings, redis: RedisParts, model: Model, store: VectorStore) -> LaneParts:
    """Folders of the machine belong to the default tenant, as the authored folder does."""
    return LaneParts(
        TenantScope(DEFAULT_TENANT),
        holdings(model, store),
        search(model, store),
        VectorParts(store, model.embedder),
        LaneRuns(redis.client),
        system_clock,
        settings.docs_roots,
        settings.docs_include,
        settings.docs_questions,
        settings.docs_questions_repo,
        settings.docs_webhook,
    )
