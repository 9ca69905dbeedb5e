"""`lithify explain`: draws the receipt of an assemble or search, so that one sees why a memory won or lost."""

from typing import Annotated, Any

import typer
from rich.table import Table

from lithify.cli.console import data, emit_json, excerpt, format_time, shorten, warn_degraded
from lithify.cli.service import AsJson, Url, connect
from lithify.client import Memory
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
    with connect(load_settings(url=url)) as service:
        receipt = service.trace(trace)
        if as_json:
            emit_json(receipt)
            return
        warn_degraded(receipt["degraded"])
        if receipt["kind"] == "docs":
            print_docs_search(receipt, rows)
        elif receipt["kind"] == "search":
            print_search(receipt, rows, service)
        else:
            print_assembly(receipt, rows, service)


def print_search(receipt: dict[str, Any], rows: int, service: Memory) -> None:
    data.print(headline(receipt), markup=False)
    data.print(hit_table(receipt["hits"][:rows], service))


def print_assembly(receipt: dict[str, Any], rows: int, service: Memory) -> None:
    data.print(headline(receipt), markup=False)
    data.print(budget_table(receipt))
    data.print(temporal_line(receipt["temporal"]), markup=False)
    data.print(candidate_table(receipt["considered"][:rows], service))
    data.print(describe_remainder(receipt, rows), markup=False)


def headline(receipt: dict[str, Any]) -> str:
    when = format_time(receipt["now"])
    profile = receipt["profile"]
    return f'{receipt["kind"]} of "{shorten(receipt["query"], 80)}" at {when} UTC, profile {profile["name"]}'


def budget_table(receipt: dict[str, Any]) -> Table:
    """Shows who got how many tokens of which limit, in the order of the budget."""
    table = Table("block", "items", "tokens", "limit", box=None, padding=(0, 2, 0, 0))
    for spent in spendings(receipt):
        table.add_row(spent.words, str(spent.items), str(spent.tokens), spent.limit)
    table.add_row("all, with frames", "", str(receipt["tokens"]), f"{receipt['token_budget']} asked for")
    return table


def candidate_table(rows: list[dict[str, Any]], service: Memory) -> Table:
    table = Table("", "σ", "score", "relevance", "dense", "lexical", "ω", "why", "text", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        numbers = [row.get(name) for name in ("sigma", "score", "relevance", "dense", "lexical", "weight")]
        shown = ["" if number is None else f"{number:.3f}" for number in numbers]
        mark = "+" if row["injected"] else "-"
        table.add_row(mark, *shown, reason_of(row), read_text(row["id"], service))
    return table


def hit_table(hits: list[dict[str, Any]], service: Memory) -> Table:
    table = Table("score", "dense", "lexical", "text", box=None, padding=(0, 2, 0, 0))
    for hit in hits:
        numbers = (hit["score"], hit["dense"], hit["lexical"])
        table.add_row(*(f"{number:.3f}" for number in numbers), read_text(hit["id"], service))
    return table


def read_text(record_id: str, service: Memory) -> str:
    """Asks for the text: receipts hold none, so that forgetting a memory is forgetting it here too."""
    try:
        return excerpt(service.read(record_id).text, 60)
    except Invalid:
        return GONE


def describe_remainder(receipt: dict[str, Any], rows: int) -> str:
    """Counts what the table does not show."""
    lost = receipt.get("shortened", {}).get("considered", 0)
    hidden = max(0, len(receipt["considered"]) - rows)
    words = f"{len(receipt['considered'])} candidates, {sum(row['injected'] for row in receipt['considered'])} injected"
    words += f"; {hidden} not shown (--rows)" if hidden else ""
    return words + (f"; {lost} left out of the receipt for its size" if lost else "")


def print_docs_search(receipt: dict[str, Any], rows: int) -> None:
    """Prints both lists of a docs search, how they were fused, and what came out."""
    data.print(docs_headline(receipt), markup=False)
    data.print(docs_table(receipt, rows))


def docs_headline(receipt: dict[str, Any]) -> str:
    query = receipt["query"]
    corpus = receipt["corpus"]
    versions = ", ".join(f"{repo} at {version[:12]}" for repo, version in corpus["versions"].items() if version)
    lists = ", ".join(list_line(name, receipt[leg]) for name, leg in (("words", "lexical"), ("meaning", "vector")))
    asked = f'docs search of "{shorten(query["text"], 80)}", {query["mode"]} by {query["fusion"]}'
    return f"{asked}\n{lists}; corpus {corpus['generation']}{' (' + versions + ')' if versions else ''}"


def list_line(name: str, leg: dict[str, Any]) -> str:
    return f"{name}: {leg['absent'] or str(len(leg['hits'])) + ' pieces'}"


def docs_table(receipt: dict[str, Any], rows: int) -> Table:
    table = Table("", "score", "words", "meaning", "decay", "piece", box=None, padding=(0, 2, 0, 0))
    chosen = {one["ref"] for one in receipt["final"]}
    for row in receipt["fused"][:rows]:
        ranks = [str(row[name] or "") for name in ("lexical_rank", "vector_rank")]
        mark = "+" if row["ref"] in chosen else "-"
        table.add_row(mark, f"{row['score']:.4f}", *ranks, f"{row['decay']:.3f}", excerpt(row["ref"], 90))
    return table
