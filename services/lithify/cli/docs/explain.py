"""Draws the receipt of a docs search: both lists, how they were fused, and what came out."""

from typing import Any

from rich.table import Table

from lithify.cli.query import excerpt, shortened


def docs_headline(receipt: dict[str, Any]) -> str:
    query, corpus = receipt["query"], receipt["corpus"]
    versions = ", ".join(f"{repo} at {version[:12]}" for repo, version in corpus["versions"].items() if version)
    lists = ", ".join(list_line(name, receipt[leg]) for name, leg in (("words", "lexical"), ("meaning", "vector")))
    asked = f'docs search of "{shortened(query["text"], 80)}", {query["mode"]} by {query["fusion"]}'
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
