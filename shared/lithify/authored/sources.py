"""Reads whole documents back from the store, of one tenant or of all."""

from typing import Final

from lithify.authored.document import Document
from lithify.authored.records import DOCUMENTS, document_id, owner, read_document
from lithify.events import AnyTenant, TenantScope
from lithify.store import VectorStore
from lithify.store.memory import COLLECTION

PAGE: Final = 16  # at most 4 MiB of text at once


async def read_documents(scope: AnyTenant, store: VectorStore) -> list[Document]:
    """By tenant and name."""
    found, after = [], None
    own = owner(scope) if isinstance(scope, TenantScope) else scope
    while True:
        page = await store.scroll(own, COLLECTION, DOCUMENTS, limit=PAGE, after=after)
        found += [read_document(record) for record in page.records]
        after = page.next
        if after is None:
            return sorted(found, key=lambda document: (document.tenant, document.name))


async def find_document(scope: TenantScope, store: VectorStore, name: str, family: str) -> Document | None:
    records = await store.fetch(owner(scope), COLLECTION, [document_id(scope.tenant, name, family)])
    return read_document(records[0]) if records else None
