"""What is asked and answered about authored documents."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from lithify.authored import Document
from lithify.memory.rulebook.document import AuthoredDocument, AuthoredNode, Tier


class DocumentInput(BaseModel):
    """The JSON form of a document; `text/markdown` sends the text as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(description="The whole document in Markdown.")


class DocumentSummary(BaseModel):
    name: str
    core: bool = Field(description="Whether its rules bind every prompt; configuration decides, never content.")
    origin: str = Field(description="api, or folder for a document that follows a file.")
    hash: str
    bytes: int
    updated_at: int = Field(description="In ms.")

    @classmethod
    def of(cls, document: Document, *, core: bool) -> Self:
        return cls(
            name=document.name,
            core=core,
            origin=document.origin,
            hash=document.content_hash,
            bytes=len(document.raw),
            updated_at=document.ts,
        )


class DocumentList(BaseModel):
    documents: list[DocumentSummary]


class TierSizes(BaseModel):
    """How many pieces of a document went where, and what its hard rules cost in every prompt."""

    hard: int
    soft: int
    variant: int
    hard_tokens: int

    @classmethod
    def of(cls, parts: AuthoredDocument) -> Self:
        cost = sum(node.token_estimate for node in parts.hard)
        return cls(hard=len(parts.hard), soft=len(parts.soft), variant=len(parts.variant), hard_tokens=cost)


class DocumentWritten(DocumentSummary):
    changed: bool = Field(description="False if the same document was there already.")
    nodes: TierSizes


class Node(BaseModel):
    """One piece of a document: a hard rule, a soft rule, or a variant that is searched like other memory."""

    id: str
    kind: str
    tier: str
    position: int = Field(description="Byte offset in the document.")
    tokens: int
    text: str

    @classmethod
    def of(cls, node: AuthoredNode) -> Self:
        return cls(
            id=node.record_id,
            kind=node.kind,
            tier=Tier(node.tier).name.lower(),
            position=node.position,
            tokens=node.token_estimate,
            text=node.text,
        )


class DocumentView(DocumentSummary):
    text: str
    nodes: list[Node]


class DocumentRemoved(BaseModel):
    name: str
    removed: bool = True
