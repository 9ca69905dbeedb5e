"""Keeps the hard rules of all documents within their share of the smallest prompt (spec 06 §7)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from lithify.authored.document import Document
from lithify.authored.sources import read_documents
from lithify.errors import Misconfigured
from lithify.events import EVERY_TENANT
from lithify.memory.rulebook.collection import AuthoredLibrary
from lithify.memory.rulebook.document import partition
from lithify.memory.rulebook.startup import check_hard_reserve
from lithify.store import VectorStore


@dataclass(frozen=True, slots=True)
class Reserve:
    """α1 of the profile and the smallest budget hosts ask with; a share of None reserves nothing."""

    share: float | None
    budget: int | None

    def check(self, library: AuthoredLibrary) -> None:
        """Raises Misconfigured with both numbers and the largest documents."""
        check_hard_reserve(library.hard, self.share, self.budget)


def library_of(documents: Iterable[Document], core: Collection[str], generation: int = 0) -> AuthoredLibrary:
    """The core documents in their tiers, CPU-bound; configuration says which are core, never a stored mark (X32)."""
    ruling = [document for document in documents if document.name in core]
    parts = {document.name: partition(document.raw, document.name, core=True) for document in ruling}
    return AuthoredLibrary(parts, generation)


async def check_startup(store: VectorStore, core: Collection[str], reserve: Reserve) -> None:
    """Raises Misconfigured if the hard rules of any tenant do not fit; call it before anything is served."""
    documents = await read_documents(EVERY_TENANT, store)
    for tenant, own in groupby(documents, key=lambda document: document.tenant):
        try:
            reserve.check(library_of(own, core))
        except Misconfigured as error:
            raise Misconfigured(f"tenant {tenant}: {error}") from None
