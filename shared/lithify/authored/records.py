"""An authored document as records of the collection `memories`: the text as written, and one record per node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lithify.authored.document import AuthoredText, Origin
from lithify.embedding import Embedder
from lithify.events import TenantScope
from lithify.events.scope import SHARED
from lithify.indexing import TextVectors, embed_each, lexical_vector
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.rulebook.document import AuthoredDocument, AuthoredNode, Tier, authored_cache_key
from lithify.memory.temporal.anchors import anchor_density
from lithify.store import Record, Where, point_id
from lithify.store.memory_record import MemoryRecord
from lithify.store.records import join_parts

KIND: Final = "authored"
SOURCE: Final = "source"
"""The tier of the record that holds the whole text; the others are the node's own."""

ESTIMATOR: Final = "estimate-v1"  # names the token estimator; change it with `memory.tokens`
DOCUMENTS: Final = Where().equals("kind", KIND).equals("authored_tier", SOURCE)


def document_filter(name: str) -> Where:
    """Selects all records of one document."""
    return Where().equals("kind", KIND).equals("source_ref", name)


def shared_scope(scope: TenantScope) -> TenantScope:
    """Returns whose they are: authored documents belong to all users of a tenant."""
    return TenantScope(scope.tenant, SHARED)


def edition_of(document: AuthoredText, *, core: bool, fingerprint: str) -> str:
    """Names an edition, which changes with everything the node records depend on."""
    return join_parts(authored_cache_key(document.raw, ESTIMATOR, core=core), fingerprint)


def document_id(tenant: str, name: str, family: str) -> str:
    return point_id(tenant, KIND, name, family)


def document_record(document: AuthoredText, family: str) -> Record:
    """Returns the record of the whole text, without vectors and not active: no search may ever find it."""
    memory = MemoryRecord(
        tenant=document.tenant,
        user=SHARED,
        kind=KIND,
        scope="global",
        text=document.text,
        ts=document.ts,
        source_kind=KIND,
        source_ref=document.name,
        meta=document_meta(document),
        active=False,
        provenance=KIND,
        authored_tier=SOURCE,
    )
    return Record(document_id(document.tenant, document.name, family), memory.payload())


def document_meta(document: AuthoredText) -> dict[str, Any]:
    return {"hash": document.content_hash, "origin": document.origin.value, "edition": document.edition}


def read_document(record: Record) -> AuthoredText:
    memory = MemoryRecord.from_payload(record.payload)
    meta = memory.meta or {}
    return AuthoredText(
        tenant=memory.tenant,
        name=memory.source_ref or "",
        text=memory.text,
        origin=Origin(meta.get("origin", Origin.API)),
        ts=memory.ts,
        edition=meta.get("edition"),
    )


@dataclass(frozen=True, slots=True)
class NodeRecords:
    """Makes the records of a document's nodes; CPU-bound, because it embeds what can be searched."""

    embedder: Embedder
    analyser: LexicalAnalyser

    def make(self, document: AuthoredText, parts: AuthoredDocument) -> list[Record]:
        rules = [self._rule(document, node) for node in (*parts.hard, *parts.soft)]
        return rules + self._searchable(document, parts.variant)

    def _rule(self, document: AuthoredText, node: AuthoredNode) -> Record:
        """Makes the record of a rule, which is injected by right, so never searched and without vectors."""
        return Record(self._id(document, node.record_id), self._memory(document, node).payload())

    def _searchable(self, document: AuthoredText, nodes: Sequence[AuthoredNode]) -> list[Record]:
        embedded = embed_each([node.text for node in nodes], self.embedder) if nodes else []
        return [self._variant(document, node, one) for node, one in zip(nodes, embedded, strict=True)]

    def _variant(self, document: AuthoredText, node: AuthoredNode, embedded: TextVectors) -> Record:
        memory = self._memory(
            document,
            node,
            embedding=self.embedder.fingerprint,
            missing_tiers=embedded.missing(self.embedder.manifest),
            hop_targets=tuple(self._target(document, target) for target in node.hop_targets),
        )
        lexical = lexical_vector(node.text, self.analyser)
        return Record(self._id(document, node.record_id), memory.payload(), embedded.vectors, lexical)

    def _memory(self, document: AuthoredText, node: AuthoredNode, **searched: Any) -> MemoryRecord:
        return MemoryRecord(
            tenant=document.tenant,
            user=SHARED,
            kind=KIND,
            scope="global",
            text=node.text,
            ts=document.ts,
            seq=node.ordinal,
            source_kind=KIND,
            source_ref=document.name,
            meta=node_meta(document, node),
            token_estimate=node.token_estimate,
            anchors=anchor_density(node.text),
            provenance=KIND,
            authority=node.authority,
            authored_tier=Tier(node.tier).name.lower(),
            **searched,
        )

    def _id(self, document: AuthoredText, record_id: str) -> str:
        return point_id(document.tenant, KIND, record_id, self.embedder.manifest.family)

    def _target(self, document: AuthoredText, target: str) -> str:
        """Returns the record id of an authored node as the store names it; what is none is a point id already."""
        return self._id(document, target) if "#" in target else target


def node_meta(document: AuthoredText, node: AuthoredNode) -> dict[str, Any]:
    return {
        "kind": node.kind.value,
        "position": node.position,
        "modality": node.modality,
        "hash": document.content_hash,
    }
