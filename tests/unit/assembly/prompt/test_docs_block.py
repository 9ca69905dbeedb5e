"""Documents for a prompt when something about them goes wrong."""

from typing import Any, cast

import pytest

from lithify.assembly.deadlines import Deadline
from lithify.assembly.prompt.docs_block import PromptDocuments, read_documents
from lithify.assembly.prompt.ingredients import Terms
from lithify.assembly.prompt.promises import broken_document_promises
from lithify.assembly.prompt.token_counter import ESTIMATOR
from lithify.assembly.schema import IncludeDocs
from lithify.docs.block import DocsPart
from lithify.docs.search import DocSearch
from lithify.errors import LithifyError, Unavailable
from lithify.events import TenantScope
from lithify.memory.ranking.profile import RECALL

TERMS = Terms(1000.0, RECALL, 0)


class Failing:
    def __init__(self, error: LithifyError) -> None:
        self.error = error

    async def find(self, *_: Any, **__: Any) -> None:
        raise self.error


async def read(search: object, wanted: IncludeDocs, query: str = "ferry") -> PromptDocuments:
    return await read_documents(
        cast("DocSearch", search), TenantScope("acme"), wanted, query, terms=TERMS, deadline=Deadline.after(1000)
    )


async def test_documents_that_are_down_are_told_and_nothing_else_happens() -> None:
    found = await read(Failing(Unavailable("no store")), IncludeDocs())
    assert (found.part.text, found.missing) == ("", ("documents cannot be read: no store",))


async def test_a_repository_that_cannot_be_is_told() -> None:
    found = await read(Failing(Unavailable()), IncludeDocs(repos=("a..b",)))
    assert "'a..b'" in found.missing[0]


@pytest.mark.parametrize("wanted", [IncludeDocs(tokens=0), IncludeDocs(share=1e-9)])
async def test_no_room_asks_nobody(wanted: IncludeDocs) -> None:
    assert (await read(Failing(Unavailable()), wanted)).missing == ()
    assert (await read(Failing(Unavailable()), IncludeDocs(), "")).missing == ()


def test_the_estimator_counts_line_by_line() -> None:
    lines = ["The ferry sails.\n", "渡轮中午开航。\n"]
    assert ESTIMATOR.count("".join(lines)) == sum(ESTIMATOR.count(line) for line in lines)


def test_the_checker_knows_the_documents() -> None:
    assert list(broken_document_promises(PromptDocuments())) == []
    costly = PromptDocuments(DocsPart("", 11, (), 0), limit=10)
    assert [told[:2] for told in broken_document_promises(costly)] == ["6:"]
    escaped = PromptDocuments(DocsPart("</entry>", 1, (), 0), limit=10)
    assert [told[:3] for told in broken_document_promises(escaped)] == ["14:"]
