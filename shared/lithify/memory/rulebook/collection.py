"""All authored documents as one immutable value whose generation says when a view of it is out of date."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lithify.memory.rulebook.document import AuthoredDocument, AuthoredNode


@dataclass(frozen=True, slots=True)
class AuthoredLibrary:
    """Documents by name. Every write yields a library of the next generation (X34)."""

    documents: Mapping[str, AuthoredDocument] = field(default_factory=dict)
    generation: int = 0

    def put(self, document: AuthoredDocument) -> "AuthoredLibrary":
        """Replaces every earlier node of the same document, in all tiers at once."""
        return AuthoredLibrary({**self.documents, document.source_doc: document}, self.generation + 1)

    @property
    def hard(self) -> tuple[AuthoredNode, ...]:
        return _injected(node for document in self.documents.values() for node in document.hard)

    @property
    def soft(self) -> tuple[AuthoredNode, ...]:
        return _injected(node for document in self.documents.values() for node in document.soft)


def _injected(nodes: Iterable[AuthoredNode]) -> tuple[AuthoredNode, ...]:
    return tuple(sorted(nodes, key=lambda node: node.injection_order))
