"""Authored Markdown split into hard rules, soft rules and searchable variants (spec 06 §1 to §5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from lithify.errors import Invalid
from lithify.memory.rulebook.blocks import Block, Kind, read_blocks
from lithify.memory.rulebook.deontic import modality
from lithify.memory.rulebook.front_matter import FrontMatter, read_front_matter
from lithify.memory.tokens import estimate_tokens


class Tier(IntEnum):
    VARIANT = 0
    HARD = 1
    SOFT = 2


_TIER_OF_KIND = {Kind.LIST: Tier.HARD, Kind.FRONT_MATTER: Tier.HARD, Kind.BLOCKQUOTE: Tier.SOFT}


@dataclass(frozen=True, slots=True)
class AuthoredNode:
    """One addressable piece of an authored document."""

    source_doc: str
    ordinal: int
    position: int
    kind: Kind
    tier: Tier
    text: str
    token_estimate: int  # X11: the host estimator, on the bare text that is injected
    modality: int
    hop_targets: tuple[str, ...]
    authority: float

    @property
    def record_id(self) -> str:
        return f"{self.source_doc}#{self.ordinal:06d}"

    @property
    def promoted(self) -> bool:
        """Whether its wording, not its form, made it a soft rule."""
        return self.modality != 0

    @property
    def injection_order(self) -> tuple[str, int, int, str]:
        return self.source_doc, self.position, self.ordinal, self.record_id


@dataclass(frozen=True, slots=True)
class AuthoredDocument:
    """The three tiers of one document: disjoint, complete, each in document order."""

    source_doc: str
    hard: tuple[AuthoredNode, ...]
    soft: tuple[AuthoredNode, ...]
    variant: tuple[AuthoredNode, ...]

    @property
    def nodes(self) -> tuple[AuthoredNode, ...]:
        return tuple(sorted((*self.hard, *self.soft, *self.variant), key=lambda node: node.ordinal))


def partition(raw: bytes, source_doc: str, core: bool) -> AuthoredDocument:
    """Every node of the document in exactly one tier; a pure function of its arguments.

    `core` comes from configuration only, never from content (X32). Raises `Invalid` for bytes that are not UTF-8.
    """
    _require_utf8(raw, source_doc)
    head = read_front_matter(raw)
    nodes = [
        _node(block, source_doc, ordinal, head.hop_targets, core) for ordinal, block in enumerate(_blocks(raw, head))
    ]
    hard, soft, variant = (
        tuple(node for node in nodes if node.tier is tier) for tier in (Tier.HARD, Tier.SOFT, Tier.VARIANT)
    )
    return AuthoredDocument(source_doc, hard, soft, variant)


def tier_of(kind: Kind, mask: int) -> Tier:
    """ι for a core document: the form decides, and for a paragraph its modality."""
    if kind is Kind.PARAGRAPH and mask:
        return Tier.SOFT
    return _TIER_OF_KIND.get(kind, Tier.VARIANT)


def _require_utf8(raw: bytes, source_doc: str) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"{source_doc} is not UTF-8 text: bad byte at offset {error.start}") from error


def _blocks(raw: bytes, head: FrontMatter) -> Iterator[Block]:
    if head.text:
        yield Block(Kind.FRONT_MATTER, head.text, 0)
    yield from read_blocks(raw, head.body_start)


def _node(block: Block, source_doc: str, ordinal: int, hop_targets: tuple[str, ...], core: bool) -> AuthoredNode:
    mask = modality(block.text) if core and block.kind is Kind.PARAGRAPH else 0
    tier = tier_of(block.kind, mask) if core else Tier.VARIANT
    return AuthoredNode(
        source_doc=source_doc,
        ordinal=ordinal,
        position=block.position,
        kind=block.kind,
        tier=tier,
        text=block.text,
        token_estimate=estimate_tokens(block.text),
        modality=mask,
        hop_targets=hop_targets if tier is Tier.VARIANT else (),
        authority=1.0 if core else 0.0,
    )
