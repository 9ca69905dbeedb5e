"""What a file is, by its path and origin; what it is called; and when it counts as changed."""

from dataclasses import replace

import pytest

from lithify.docs.sources import DocKind, DocName, DocSource, SourceKind, kind_of, parse_ref
from lithify.docs.trust import Ruling, Trust, trust_of
from lithify.errors import Invalid

RULING = Ruling("r1", "acme", "harbour", "a.md", "untrusted", "trusted", "ada", "checked", 1, "hash")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("DECISIONS/0001-use-rust.md", "decision"),
        ("docs/adr/7.md", "decision"),
        ("docs/adr-007.md", "decision"),
        ("ROADMAP.md", "roadmap"),
        ("x/ROADMAP-2024.md", "roadmap"),
        ("x/SPEC.md", "spec"),
        ("PRD_pumps.md", "spec"),
        ("TECH_NOTES/valve.md", "spec"),
        ("logs/2024-01-01.md", "log"),
        ("CHANGELOG.md", "log"),
        ("README.md", "other"),
        ("catalogue.md", "other"),
    ],
)
def test_the_path_tells_the_kind(path: str, kind: DocKind) -> None:
    assert kind_of(path) == kind
    assert DocSource(path, "x").doc_kind == kind


@pytest.mark.parametrize(
    ("source_kind", "doc_kind", "trust"),
    [
        ("operator", "decision", "trusted"),
        ("operator", "roadmap", "trusted"),
        ("operator", "spec", "trusted"),
        ("operator", "log", "untrusted"),
        ("operator", "other", "untrusted"),
        ("tool", "decision", "untrusted"),
        ("web", "spec", "untrusted"),
        ("import", "roadmap", "untrusted"),
        ("system", "decision", "untrusted"),
    ],
)
def test_only_the_operators_decisions_roadmaps_and_specs_are_trusted(
    source_kind: SourceKind, doc_kind: DocKind, trust: Trust
) -> None:
    assert trust_of(source_kind, doc_kind, "hash", None) == trust


def test_a_promotion_holds_for_its_text_and_a_demotion_for_every_text() -> None:
    assert trust_of("web", "spec", "hash", RULING) == "trusted"
    assert trust_of("web", "spec", "other", RULING) == "untrusted"
    demotion = replace(RULING, after="untrusted")
    assert trust_of("operator", "spec", "other", demotion) == "untrusted"


def test_the_digest_changes_with_text_kind_and_origin_only() -> None:
    one = DocSource("a.md", "text")
    others = [
        DocSource("a.md", "text!"),
        DocSource("a.md", "text", "spec"),
        DocSource("a.md", "text", source_kind="web"),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 4
    assert DocSource("a.md", "text", "other").digest == one.digest


@pytest.mark.parametrize(
    ("more", "words"),
    [({"kind": "novel"}, "kind 'novel'"), ({"source_kind": "spy"}, "source_kind 'spy'"), ({"path": "a.exe"}, "end in")],
)
def test_what_can_never_be_stored_is_refused(more: dict[str, str], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        DocSource(**({"path": "a.md", "text": "x"} | more))  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("path", ["a.md", "a#b.md", "a b/c:d.md", "深/潮.md"])
def test_a_reference_round_trips(path: str) -> None:
    name = DocName("owner/repo", path)
    assert parse_ref(name.ref("anchor.2~3")) == (name, "anchor.2~3")


@pytest.mark.parametrize("ref", ["", "doc:", "doc:a", "doc:a:b.md", "doc:a:b.md#", "turn:a:b.md#x", "doc::b.md#x"])
def test_what_is_no_reference_is_refused(ref: str) -> None:
    with pytest.raises(Invalid):
        parse_ref(ref)
