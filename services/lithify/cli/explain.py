"""`lithify explain`: draws the receipt of an assemble or search, so that one sees why a memory won or lost."""

from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json
from lithify.cli.docs.explain import docs_headline, docs_table
from lithify.cli.query import AsJson, Url, excerpt, shortened, warn
from lithify.client.explanation import reason_of, spendings, temporal_line
from lithify.errors import Invalid
from lithify.settings import load_settings

GONE = "(no longer stored)"


def explain(
    trace: Annotated[str, typer.Argument(help="The trace_id of an answer.")],
    rows: Annotated[int, typer.Option(help="Candidates to show.", min=1, max=1000)] = 20,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show what was considered for an answer, why it won or lost, and which budget cut it."""
    api = Api(load_settings(url=url))
    receipt = api.call("GET", f"/v1/traces/{quote(trace, safe='')}")
    if as_json:
        emit_json(receipt)
        return
    warn(receipt["degraded"])
    if receipt["kind"] == "docs":
        data.print(docs_headline(receipt), markup=False)
        data.print(docs_table(receipt, rows))
        return
    data.print(headline(receipt), markup=False)
    if receipt["kind"] == "search":
        data.print(hit_rows(receipt["hits"][:rows], api))
        return
    data.print(budget_table(receipt))
    data.print(temporal_line(receipt["temporal"]), markup=False)
    data.print(candidate_table(receipt["considered"][:rows], api))
    data.print(remainder(receipt, rows), markup=False)


def headline(receipt: dict[str, Any]) -> str:
    when = datetime.fromtimestamp(receipt["now"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    profile = receipt["profile"]
    return f'{receipt["kind"]} of "{shortened(receipt["query"], 80)}" at {when} UTC, profile {profile["name"]}'


def budget_table(receipt: dict[str, Any]) -> Table:
    """Who got how many tokens of which limit, in the order of the budget."""
    table = Table("block", "items", "tokens", "limit", box=None, padding=(0, 2, 0, 0))
    for spent in spendings(receipt):
        table.add_row(spent.words, str(spent.items), str(spent.tokens), spent.limit)
    table.add_row("all, with frames", "", str(receipt["tokens"]), f"{receipt['token_budget']} asked for")
    return table


def candidate_table(rows: list[dict[str, Any]], api: Api) -> Table:
    table = Table("", "σ", "score", "relevance", "dense", "lexical", "ω", "why", "text", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        numbers = [row.get(name) for name in ("sigma", "score", "relevance", "dense", "lexical", "weight")]
        shown = ["" if number is None else f"{number:.3f}" for number in numbers]
        mark = "+" if row["injected"] else "-"
        table.add_row(mark, *shown, reason_of(row), words_of(row["id"], api))
    return table


def hit_rows(hits: list[dict[str, Any]], api: Api) -> Table:
    table = Table("score", "dense", "lexical", "text", box=None, padding=(0, 2, 0, 0))
    for hit in hits:
        numbers = (hit["score"], hit["dense"], hit["lexical"])
        table.add_row(*(f"{number:.3f}" for number in numbers), words_of(hit["id"], api))
    return table


def words_of(record_id: str, api: Api) -> str:
    """Receipts hold no texts, so that forgetting a memory is forgetting it here too."""
    try:
        return excerpt(api.call("GET", f"/v1/memories/{quote(record_id, safe='')}")["text"], 60)
    except Invalid:
        return GONE


def remainder(receipt: dict[str, Any], rows: int) -> str:
    """Counts what the table does not show."""
    lost = receipt.get("shortened", {}).get("considered", 0)
    hidden = max(0, len(receipt["considered"]) - rows)
    told = f"{len(receipt['considered'])} candidates, {sum(row['injected'] for row in receipt['considered'])} injected"
    told += f"; {hidden} not shown (--rows)" if hidden else ""
    return told + (f"; {lost} left out of the receipt for its size" if lost else "")
