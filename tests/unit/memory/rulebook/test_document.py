"""Authored Markdown falls into three tiers, completely and repeatably (spec 06 §1 to §6)."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Invalid
from lithify.memory.prompt.budget import pack_prefix
from lithify.memory.rulebook.blocks import BlockKind
from lithify.memory.rulebook.document import (
    AuthoredDocument,
    AuthoredLibrary,
    AuthoredNode,
    Tier,
    authored_cache_key,
    partition_document,
)
from lithify.memory.tokens import estimate_tokens

IDENTITY = """---
name: Harbour
hop_targets: [notes.md#000001, "notes.md#000004"]
---

# Harbour

You must stay polite.

> Calm water, clear words.

- Greet first.
- Close the `loop` with [a link](https://example.org).

The harbour was built in 1890.

```sh
make dock
```
"""


def core(markdown: str) -> AuthoredDocument:
    return partition_document(markdown.encode(), "AGENTS.md", core=True)


def texts(nodes: tuple[AuthoredNode, ...]) -> list[str]:
    return [node.text for node in nodes]


def test_identity_document_falls_into_its_tiers() -> None:
    """spec 06.1"""
    document = core(IDENTITY)
    assert [node.kind for node in document.nodes] == [
        BlockKind.FRONT_MATTER,
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.BLOCKQUOTE,
        BlockKind.LIST,
        BlockKind.LIST,
        BlockKind.PARAGRAPH,
        BlockKind.CODE,
    ]
    assert (len(document.hard), len(document.soft), len(document.variant)) == (3, 2, 3)
    assert [node.ordinal for node in document.nodes] == list(range(8))
    positions = [node.position for node in document.nodes]
    assert positions == sorted(positions)
    targets = ("notes.md#000001", "notes.md#000004")
    assert [node.hop_targets for node in document.variant] == [targets] * 3
    assert {node.hop_targets for node in document.hard + document.soft} == {()}


def test_each_top_level_item_is_one_hard_rule() -> None:
    document = core("- a\n  - a1\n  - a2\n- b\n\n1. c\n")
    assert texts(document.hard) == ["a a1 a2", "b", "c"]


markdown_lines = st.sampled_from(
    [
        *("", "---", "...", "# Head", "- item", "  - nested", "1. first", "> quote", "```", "    code", "<b>", "***"),
        *("You must stay.", "The sea is wide.", "hop_targets: a", "===", "[a]: /u", "\tx", "\u2028", "*e* `c` <i>"),
    ],
)


random_markdown = st.lists(st.one_of(markdown_lines, st.text(max_size=12)), max_size=15).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines)),
)


@settings(max_examples=300, deadline=None)
@given(random_markdown, st.booleans())
def test_tiers_partition_any_document(markdown: str, is_core: bool) -> None:
    """spec 06.2"""
    raw = markdown.encode("utf-8", "replace")
    document = partition_document(raw, "d", core=is_core)
    ordinals = [node.ordinal for tier in (document.hard, document.soft, document.variant) for node in tier]
    assert sorted(ordinals) == list(range(len(ordinals)))
    assert [node.ordinal for node in document.nodes] == list(range(len(ordinals)))
    assert all(node.text and node.token_estimate > 0 for node in document.nodes)
    positions = [node.position for node in document.nodes]
    assert positions == sorted(positions)
    assert all(0 <= position < len(raw) for position in positions)
    assert partition_document(raw, "d", core=is_core) == document
    assert is_core or not document.hard + document.soft


def test_code_only_file_is_one_variant() -> None:
    """spec 06.3"""
    document = core("```py\nuse = 1\n```\n")
    assert (document.hard, document.soft, texts(document.variant)) == ((), (), ["use = 1"])


def test_empty_file_has_no_nodes() -> None:
    """spec 06.3"""
    assert core("").nodes == core(" \n\n").nodes == ()


def test_standard_document_never_rules() -> None:
    """spec 06.9"""
    standard = partition_document(IDENTITY.encode(), "notes.md", core=False)
    assert (standard.hard, standard.soft) == ((), ())
    assert {(node.tier, node.authority, node.modality) for node in standard.nodes} == {(Tier.VARIANT, 0.0, 0)}
    assert "Greet first." in texts(standard.variant)
    plain = next(node for node in core(IDENTITY).variant if node.kind is BlockKind.PARAGRAPH)
    assert (plain.text, plain.authority) == ("The harbour was built in 1890.", 1.0)


def test_only_a_paragraph_is_promoted_by_its_wording() -> None:
    document = core("# Use tabs\n\nUse tabs.\n\n> Use tabs.\n\n    Use tabs.\n")
    assert [(node.tier, node.modality) for node in document.nodes] == [
        (Tier.VARIANT, 0),
        (Tier.SOFT, 2),
        (Tier.SOFT, 0),
        (Tier.VARIANT, 0),
    ]


def test_nodes_know_their_id_and_cost() -> None:
    node = core("- 東京駅前広場\n").hard[0]
    assert node.record_id == "AGENTS.md#000000"
    assert node.token_estimate == estimate_tokens("東京駅前広場") == 4


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(Invalid, match=r"AGENTS\.md is not UTF-8 text: bad byte at offset 3"):
        partition_document(b"ab \xff", "AGENTS.md", core=True)


def test_cache_key_follows_content_and_versions() -> None:
    """spec 06.10"""
    key = authored_cache_key(b"- a", "cl100k", core=True)
    others = {
        authored_cache_key(b"- b", "cl100k", core=True),
        authored_cache_key(b"- a", "o200k", core=True),
        authored_cache_key(b"- a", "cl100k", core=True, lexicon_version="deontic-v2"),
        authored_cache_key(b"- a", "cl100k", core=False),
    }
    assert len({key, *others}) == 5
    assert key == authored_cache_key(b"- a", "cl100k", core=True)
    assert len(bytes.fromhex(key)) == 32


def test_equal_files_of_other_names_share_a_cache_key_and_their_texts() -> None:
    """spec 06.10"""
    first, second = (partition_document(IDENTITY.encode(), name, core=True) for name in ("a.md", "b.md"))
    assert [replace(node, source_doc="b.md") for node in first.nodes] == list(second.nodes)


def test_soft_rules_are_cut_by_prefix() -> None:
    """spec 06.13"""
    template = core("> x").soft[0]
    soft = [replace(template, ordinal=i, token_estimate=cost) for i, cost in enumerate((40, 50, 70, 20))]
    taken = pack_prefix(soft, 150, lambda node: node.token_estimate)
    assert [node.token_estimate for node in taken] == [40, 50]


@dataclass(slots=True)
class Assembler:
    """Caches the rendered rules and reloads them only when the library's generation moved."""

    generation: int = -1
    rules: list[str] = field(default_factory=list)

    def assemble(self, library: AuthoredLibrary) -> list[str]:
        if self.generation != library.generation:
            self.generation = library.generation
            self.rules = texts(library.hard + library.soft)
        return self.rules


def test_reloading_a_shortened_document_removes_its_old_nodes() -> None:
    """spec 06.14"""
    assembler = Assembler()
    library = AuthoredLibrary().put(core("- one\n- two\n\n> three\n\nfour\n"))
    assert assembler.assemble(library) == ["one", "two", "three"]
    library = library.put(core("- one\n"))
    assert (texts(library.hard), library.soft) == (["one"], ())
    assert assembler.assemble(library) == ["one"]


def test_rules_of_all_documents_come_in_one_order() -> None:
    documents = [partition_document(b"- x\n- y\n", name, core=True) for name in ("b.md", "a.md")]
    library = AuthoredLibrary().put(documents[0]).put(documents[1])
    ids = [node.record_id for node in library.hard]
    assert ids == ["a.md#000000", "a.md#000001", "b.md#000000", "b.md#000001"]
