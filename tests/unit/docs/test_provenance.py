"""Names, kinds, dates and trust of documents."""

from datetime import date

import pytest

from lithify.docs.document import MAX_BYTES, Origin, TooLarge, hash_of, read_document
from lithify.docs.identity import DocId, parse_ref
from lithify.docs.provenance import DocKind, SourceKind, Trust, date_hint, kind_of, trust_of
from lithify.errors import Invalid


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("DECISIONS/0001.md", DocKind.DECISION),
        ("a/decisions/log.md", DocKind.DECISION),
        ("ROADMAP-2025.md", DocKind.ROADMAP),
        ("x/WIRE-SPEC.md", DocKind.SPEC),
        ("PRD.md", DocKind.SPEC),
        ("TECH_NOTES/a.md", DocKind.SPEC),
        ("logs/2024-01-01.md", DocKind.LOG),
        ("special-offers.md", DocKind.OTHER),
        ("catalogue.md", DocKind.OTHER),
    ],
)
def test_the_kind_is_told_from_the_path(path: str, kind: DocKind) -> None:
    assert kind_of(path) is kind


def test_only_the_operators_decisions_roadmaps_and_specs_are_trusted() -> None:
    trusted = {(k, s) for k in DocKind for s in SourceKind if trust_of(k, s) is Trust.TRUSTED}
    assert {s for _, s in trusted} == {SourceKind.OPERATOR, SourceKind.SYSTEM}
    assert {k for k, _ in trusted} == {DocKind.DECISION, DocKind.ROADMAP, DocKind.SPEC}


@pytest.mark.parametrize(
    ("head", "path", "dated"),
    [
        ("date: 2024-05-01\n", "2023-01-01.md", date(2024, 5, 1)),
        ("title: x\nupdated: '2024-06-02T10:00'\n", "a.md", date(2024, 6, 2)),
        ("date: 2024-99-99\n", "2023-01-01.md", date(2023, 1, 1)),
        ("", "MEMORY.md", None),
    ],
)
def test_the_date_comes_from_the_front_matter_then_from_the_path(head: str, path: str, dated: date | None) -> None:
    assert date_hint(head, path) == dated


@pytest.mark.parametrize("path", ["", "/a", "a//b", "../a", "a/./b", "a#b", "a\\b", "x" * 501, "a\nb"])
def test_paths_that_could_be_mistaken_are_refused(path: str) -> None:
    with pytest.raises(Invalid, match="path"):
        DocId("repo", path)


@pytest.mark.parametrize("repo", ["", "a/b", "a:b", ".hidden", "x" * 101, "é"])
def test_repositories_have_plain_names(repo: str) -> None:
    with pytest.raises(Invalid, match="repo"):
        DocId(repo, "a.md")


def test_references_round_trip() -> None:
    doc = DocId("r.1", "a:b/c d.md")
    assert parse_ref(doc.ref("über.2~3")) == (doc, "über.2~3")
    for wrong in ("doc:r", "doc:r:p", "doc:r:p#", "x:r:p#c", "doc:r#c"):
        with pytest.raises(Invalid):
            parse_ref(wrong)


def test_a_document_must_be_text_of_a_bounded_size() -> None:
    doc = DocId("r", "a.md")
    with pytest.raises(Invalid, match="offset 1"):
        read_document(doc, b"a\xff", Origin())
    with pytest.raises(TooLarge):
        read_document(doc, b"a" * (MAX_BYTES + 1), Origin())
    assert read_document(doc, b"", Origin()).chunks == ()


def test_the_hash_tells_apart_what_would_be_stored_differently() -> None:
    doc = DocId("r", "a.md")
    origins = [Origin(), Origin(SourceKind.WEB), Origin(doc_kind=DocKind.SPEC)]
    assert len({hash_of(doc, b"x", one) for one in origins}) == 3
    assert hash_of(doc, b"x", Origin(version="v2")) == hash_of(doc, b"x", Origin())
