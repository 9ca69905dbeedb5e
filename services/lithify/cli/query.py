"""`lithify search` and `lithify assemble`: ask a running service from the terminal."""

from typing import Annotated, Any

import typer
from rich.table import Table

from lithify.cli.console import data, emit_json, excerpt, format_minute, talk, warn_degraded
from lithify.cli.service import AsJson, Url, ask


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    user: Annotated[str | None, typer.Option(help="Only this user's memory.")] = None,
    session: Annotated[
        str | None, typer.Option(help="The conversation that goes on: its records are preferred.")
    ] = None,
    only_session: Annotated[bool, typer.Option("--only-session", help="Search nothing but that session.")] = False,
    limit: Annotated[int, typer.Option(help="How many hits.")] = 8,
    mode: Annotated[str, typer.Option(help="hybrid, dense or lexical.")] = "hybrid",
    min_score: Annotated[float, typer.Option(help="Least score of a hit.")] = 0.0,
    fusion: Annotated[str | None, typer.Option(help="rrf or weighted; unset, the profile ranks.")] = None,
    vector_weight: Annotated[float | None, typer.Option(help="Of meaning in the weighted fusion.")] = None,
    multiplier: Annotated[int | None, typer.Option(help="Candidates of each list, times the limit.")] = None,
    decay: Annotated[bool | None, typer.Option(help="Let memories lose weight with age.")] = None,
    half_life_days: Annotated[float | None, typer.Option(help="Of the decay.")] = None,
    mmr: Annotated[bool | None, typer.Option(help="Prefer variety.")] = None,
    relevance_share: Annotated[float | None, typer.Option(help="1 is relevance alone, 0 variety alone.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Least value of a varied hit.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Find memories and show why they were found."""
    body = {"query": query, "user": user, "session": session, "only_session": only_session, "limit": limit}
    lists = {"mode": mode, "min_score": min_score, "fusion": fusion, "vector_weight": vector_weight}
    order = {"decay": decay, "half_life_days": half_life_days, "mmr": mmr, "relevance_share": relevance_share}
    more = {"multiplier": multiplier, "threshold": threshold}
    answer = ask(url, "POST", "/v1/search", body | lists | order | more)
    warn_degraded(answer["degraded"])
    if as_json:
        emit_json(answer)
    elif answer["hits"]:
        data.print(hit_table(answer["hits"]))
    else:
        talk.print("nothing found")


def assemble(
    query: Annotated[str, typer.Argument(help="What the prompt is about.")],
    user: Annotated[str, typer.Option(help="Whose memory.")],
    session: Annotated[str, typer.Option(help="The conversation that goes on.")],
    budget: Annotated[int, typer.Option(help="Tokens the memory part may cost.")] = 2000,
    docs: Annotated[bool, typer.Option("--docs", help="Let documents join, within a share of the budget.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Build the memory part of a prompt inside a token budget."""
    body = {"query": query, "user": user, "session": session, "token_budget": budget, "include_docs": docs}
    answer = ask(url, "POST", "/v1/assemble", body)
    warn_degraded(answer["degraded"])
    if as_json:
        emit_json(answer)
        return
    data.print(answer["text"], markup=False, end="")
    talk.print(f"{answer['tokens']} of {budget} tokens; why: lithify explain {answer['trace_id']}")


def hit_table(hits: list[dict[str, Any]]) -> Table:
    table = Table("score", "dense", "lexical", "when", "role", "text", box=None, padding=(0, 2, 0, 0))
    for hit in hits:
        parts = hit["components"]
        numbers = (hit["score"], parts["dense"], parts["lexical"])
        words = (format_minute(hit["ts"]), hit["role"] or "", excerpt(hit["text"]))
        table.add_row(*(f"{number:.3f}" for number in numbers), *words)
    return table
