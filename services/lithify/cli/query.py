"""`lithify search` and `lithify assemble`: ask a running service from the terminal."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.table import Table

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json, talk
from lithify.settings import load_settings

Url = Annotated[str | None, typer.Option(help="Service to talk to (LITHIFY_URL).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    user: Annotated[str | None, typer.Option(help="Only this user's memory.")] = None,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    limit: Annotated[int, typer.Option(help="How many hits.")] = 8,
    mode: Annotated[str, typer.Option(help="hybrid, dense or lexical.")] = "hybrid",
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Find memories and show why they were found."""
    body = {"query": query, "user": user, "session": session, "limit": limit, "mode": mode}
    answer = Api(load_settings(url=url)).call("POST", "/v1/search", body)
    warn(answer["degraded"])
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
    answer = Api(load_settings(url=url)).call("POST", "/v1/assemble", body)
    warn(answer["degraded"])
    if as_json:
        emit_json(answer)
        return
    data.print(answer["text"], markup=False, end="")
    talk.print(f"{answer['tokens']} of {budget} tokens; why: lithify explain {answer['trace_id']}")


def warn(reasons: list[str]) -> None:
    for reason in reasons:
        talk.print(f"degraded: {reason}", markup=False)


def hit_table(hits: list[dict[str, Any]]) -> Table:
    table = Table("score", "dense", "lexical", "when", "role", "text", box=None, padding=(0, 2, 0, 0))
    for hit in hits:
        parts = hit["components"]
        when = datetime.fromtimestamp(hit["ts"] / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        numbers = (hit["score"], parts["dense"], parts["lexical"])
        table.add_row(*(f"{number:.3f}" for number in numbers), when, hit["role"] or "", excerpt(hit["text"]))
    return table


def excerpt(text: str, width: int = 160) -> str:
    """For cells of a table, where brackets would be read as markup."""
    return shortened(text, width).replace("[", r"\[")


def shortened(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
