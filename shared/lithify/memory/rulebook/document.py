"""Authored Markdown split into hard rules, soft rules and searchable variants (spec 06 §1 to §7)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256

from lithify.errors import Invalid, Misconfigured
from lithify.memory.prompt.budget import TOLERANCE, Budgets, memory_budget, plan_budgets
from lithify.memory.prompt.composition import rule_item
from lithify.memory.prompt.rendering import Frames, TokenCounter, block_overhead
from lithify.memory.ranking.profile import Profile
from lithify.memory.rulebook.blocks import BlockKind, FrontMatter, MarkdownBlock, read_blocks, read_front_matter
from lithify.memory.rulebook.deontic import LEXICON_VERSION, modality
from lithify.memory.tokens import estimate_lines, estimate_tokens

LARGEST_NAMED = 3  # documents the error lists; enough to know where to cut


class Tier(IntEnum):
    VARIANT = 0
    HARD = 1
    SOFT = 2


_TIER_OF_KIND = {BlockKind.LIST: Tier.HARD, BlockKind.FRONT_MATTER: Tier.HARD, BlockKind.BLOCKQUOTE: Tier.SOFT}


@dataclass(frozen=True, slots=True)
class AuthoredNode:
    """It is one addressable piece of an authored document."""

    source_doc: str
    ordinal: int
    position: int
    kind: BlockKind
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
    def injection_order(self) -> tuple[str, int, int, str]:
        return self.source_doc, self.position, self.ordinal, self.record_id


@dataclass(frozen=True, slots=True)
class AuthoredDocument:
    """The three tiers of one document are disjoint, complete, and each in document order."""

    source_doc: str
    hard: tuple[AuthoredNode, ...]
    soft: tuple[AuthoredNode, ...]
    variant: tuple[AuthoredNode, ...]

    @property
    def nodes(self) -> tuple[AuthoredNode, ...]:
        return tuple(sorted((*self.hard, *self.soft, *self.variant), key=lambda node: node.ordinal))


def partition_document(raw: bytes, source_doc: str, core: bool) -> AuthoredDocument:
    """Puts every node of the document into exactly one tier; a pure function of its arguments.

    `core` comes from configuration only, never from content (X32). Raises `Invalid` for bytes that are not UTF-8.
    """
    _require_utf8(raw, source_doc)
    head = read_front_matter(raw)
    nodes = [
        _node(block, source_doc, ordinal=ordinal, hop_targets=head.hop_targets, core=core)
        for ordinal, block in enumerate(_blocks(raw, head))
    ]
    hard, soft, variant = (
        tuple(node for node in nodes if node.tier is tier) for tier in (Tier.HARD, Tier.SOFT, Tier.VARIANT)
    )
    return AuthoredDocument(source_doc, hard, soft, variant)


def tier_of(kind: BlockKind, mask: int) -> Tier:
    """Returns ι for a core document: the form decides, and for a paragraph its modality."""
    if kind is BlockKind.PARAGRAPH and mask:
        return Tier.SOFT
    return _TIER_OF_KIND.get(kind, Tier.VARIANT)


def _require_utf8(raw: bytes, source_doc: str) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"{source_doc} is not UTF-8 text: bad byte at offset {error.start}") from error


def _blocks(raw: bytes, head: FrontMatter) -> Iterator[MarkdownBlock]:
    if head.text:
        yield MarkdownBlock(BlockKind.FRONT_MATTER, head.text, 0)
    yield from read_blocks(raw, head.body_start)


def _node(
    block: MarkdownBlock, source_doc: str, ordinal: int, hop_targets: tuple[str, ...], core: bool
) -> AuthoredNode:
    mask = modality(block.text) if core and block.kind is BlockKind.PARAGRAPH else 0
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


@dataclass(frozen=True, slots=True)
class AuthoredLibrary:
    """It holds documents by name. Every write yields a library of the next generation (X34)."""

    documents: Mapping[str, AuthoredDocument] = field(default_factory=dict)
    generation: int = 0

    def put(self, document: AuthoredDocument) -> "AuthoredLibrary":
        """Replaces every earlier node of the same document, in all tiers at once."""
        return AuthoredLibrary({**self.documents, document.source_doc: document}, self.generation + 1)

    @property
    def hard(self) -> tuple[AuthoredNode, ...]:
        return _sort_for_injection(node for document in self.documents.values() for node in document.hard)

    @property
    def soft(self) -> tuple[AuthoredNode, ...]:
        return _sort_for_injection(node for document in self.documents.values() for node in document.soft)


def _sort_for_injection(nodes: Iterable[AuthoredNode]) -> tuple[AuthoredNode, ...]:
    return tuple(sorted(nodes, key=lambda node: node.injection_order))


def authored_cache_key(raw: bytes, tokenizer_id: str, *, core: bool, lexicon_version: str = LEXICON_VERSION) -> str:
    """Digests the bytes and everything else the tiers and costs depend on, but not the file's name.

    Core status belongs to it because the same bytes fall into other tiers once configuration changes it (X32).
    """
    standing = "core" if core else "standard"
    parts = (tokenizer_id.encode(), lexicon_version.encode(), standing.encode())
    return sha256(b"\x00".join((raw, *parts))).hexdigest()


def check_hard_reserve(
    hard_rules: Iterable[AuthoredNode], token_budget: float, profile: Profile, count: TokenCounter = estimate_lines
) -> None:
    """Raises `Misconfigured` if a prompt of this budget could not serve the hard rules of all documents (X33).

    Every frame that such a prompt may open is taken off, so that whatever passes is never degraded by its rules at that
    budget, with whatever it shows beside them.
    """
    rules = [(node.source_doc, rule_item(node.record_id, node.text, count)) for node in hard_rules]
    if not rules:
        return
    budgets = plan_budgets(
        memory_budget(token_budget, profile),
        overhead=block_overhead(count, Frames.at(0.0)),  # every day costs the same
        hard_cost=sum(item.cost for _, item in rules),
        base_cost=0,
        soft_costs=(),
        profile=profile,
    )
    if budgets.is_degraded:
        costs: Counter[str] = Counter()
        for document, item in rules:
            costs[document] += item.cost
        raise Misconfigured(_over_reserve(costs, budgets, token_budget))


def _over_reserve(costs: Counter[str], budgets: Budgets, token_budget: float) -> str:
    allowed = math.floor(min(reason.limit for reason in budgets.reasons) + TOLERANCE)
    ranked = sorted(costs.items(), key=lambda cost: (-cost[1], cost[0]))[:LARGEST_NAMED]
    largest = ", ".join(f"{name} ({tokens})" for name, tokens in ranked)
    return (
        f"hard rules need {costs.total()} tokens as they are shown, a prompt of {token_budget:.0f} has {allowed} for "
        f"them; largest documents: {largest}"
    )
