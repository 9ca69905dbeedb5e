"""Reads the authored documents back from the store, and keeps their hard rules within their share (spec 06 §7)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from lithify.authored.document import AuthoredText
from lithify.authored.records import DOCUMENTS, document_id, read_document, shared_scope
from lithify.errors import Misconfigured
from lithify.events import EVERY_TENANT, AnyTenant, TenantScope
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.ranking.profile import RECALL, Profile
from lithify.memory.rulebook.document import AuthoredLibrary, check_hard_reserve, partition_document
from lithify.memory.tokens import estimate_lines
from lithify.store import VectorStore
from lithify.store.memory_record import COLLECTION

PAGE: Final = 16  # at most 4 MiB of text at once


@dataclass(frozen=True, slots=True)
class Reserve:
    """The smallest budget hosts ask with, and how their prompts are divided; without a budget nothing is checked."""

    budget: int | None
    profile: Profile = RECALL
    count: TokenCounter = estimate_lines

    def check(self, library: AuthoredLibrary) -> None:
        """Raises Misconfigured with both numbers and the largest documents."""
        if self.budget is not None:
            check_hard_reserve(library.hard, self.budget, self.profile, self.count)


def build_library(documents: Iterable[AuthoredText], core: Collection[str], generation: int = 0) -> AuthoredLibrary:
    """Puts core documents into their tiers, CPU-bound; configuration says which are core, no stored mark (X32)."""
    ruling = [document for document in documents if document.name in core]
    parts = {document.name: partition_document(document.raw, document.name, core=True) for document in ruling}
    return AuthoredLibrary(parts, generation)


async def check_startup(store: VectorStore, core: Collection[str], reserve: Reserve) -> None:
    """Raises Misconfigured if the hard rules of any tenant do not fit; call it before anything is served."""
    documents = await read_documents(EVERY_TENANT, store)
    for tenant, own in groupby(documents, key=lambda document: document.tenant):
        try:
            reserve.check(build_library(own, core))
        except Misconfigured as error:
            raise Misconfigured(f"tenant {tenant}: {error}") from None


async def read_documents(scope: AnyTenant, store: VectorStore) -> list[AuthoredText]:
    """Reads all documents, by tenant and name."""
    found, after = [], None
    own = shared_scope(scope) if isinstance(scope, TenantScope) else scope
    while True:
        page = await store.scroll(own, COLLECTION, DOCUMENTS, limit=PAGE, after=after)
        found += [read_document(record) for record in page.records]
        after = page.next
        if after is None:
            return sorted(found, key=lambda document: (document.tenant, document.name))


async def find_document(scope: TenantScope, store: VectorStore, name: str, family: str) -> AuthoredText | None:
    records = await store.fetch(shared_scope(scope), COLLECTION, [document_id(scope.tenant, name, family)])
    return read_document(records[0]) if records else None
