"""Builds docs memory of a process from its parts."""

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
from lithify.node.parts import ProcessParts


def build_holdings(parts: ProcessParts) -> Holdings:
    model = parts.model
    return Holdings(
        store=parts.store,
        analyser=model.analyser,
        executor=model.executor,
        clock=system_clock,
        space=Space.of(model.embedder),
    )


def build_search(parts: ProcessParts) -> DocSearch:
    model = parts.model
    return DocSearch(
        store=parts.store,
        analyser=model.analyser,
        executor=model.executor,
        space=Space.of(model.embedder),
        embedder=model.embedder,
    )


def build_docs_service(parts: ProcessParts, traces: TraceBook) -> DocsService:
    return DocsService(
        holdings=build_holdings(parts),
        search=build_search(parts),
        redis=parts.redis.client,
        jobs=parts.redis.jobs,
        traces=traces,
        clock=system_clock,
        deadline_ms=parts.settings.assemble_deadline_ms,
    )


def build_lane(parts: ProcessParts) -> LaneParts:
    """Gives folders of the machine to the default tenant, as the authored folder is."""
    settings = parts.settings
    return LaneParts(
        scope=TenantScope(DEFAULT_TENANT),
        holdings=build_holdings(parts),
        search=build_search(parts),
        vectors=VectorParts(parts.store, parts.model.embedder),
        runs=LaneRuns(parts.redis.client),
        clock=system_clock,
        roots=settings.docs_roots,
        include=settings.docs_include,
        questions=settings.docs_questions,
        questions_repo=settings.docs_questions_repo,
        webhook=settings.docs_webhook,
    )
