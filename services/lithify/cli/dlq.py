"""`lithify dlq`: look at messages that were given up, send them again, or throw them away."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from lithify.cli.console import data, emit_json, excerpt, format_time, talk
from lithify.cli.service import AsJson, Url, ask
from lithify.client.call import path
from lithify.errors import Invalid

PATH: Final = "/v1/dead-letters"
SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

app = typer.Typer(help="Dead letters: messages that were given up, kept with their payload.", no_args_is_help=True)

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Letters, as `list` names them.")]


@app.command("list")
def list_letters(
    limit: Annotated[int, typer.Option(help="How many.", min=1, max=200)] = 50,
    before: Annotated[str | None, typer.Option(help="Continue below this letter.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose letters; of all you may see if left out.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest letters."""
    page = ask(url, "GET", PATH, params={"limit": limit, "before": before or None, "tenant": tenant or None})
    if as_json:
        emit_json(page)
        return
    if page["letters"]:
        data.print(letter_table(page["letters"]))
    else:
        talk.print("no dead letters")
    if page["next"]:
        more = f" --tenant {tenant}" if tenant else ""
        talk.print(f"older ones: lithify dlq list --before {page['next']}{more}")


@app.command()
def show(
    letter: Annotated[str, typer.Argument(metavar="ID", help="The letter, as `list` names it.")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show one letter with its original payload."""
    found = ask(url, "GET", path("dead-letters", letter))
    if as_json:
        emit_json(found)
        return
    fields = {name: format_time(value) if name.endswith("_seen") else value for name, value in found.items()}
    rows = {name: value for name, value in fields.items() if name != "payload" and value is not None}
    payload = {f"payload {name}": value for name, value in found["payload"].items()}
    for name, value in (rows | payload).items():
        data.print(f"{name:<14} {value}", markup=False)


@app.command()
def redrive(
    ids: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="Every letter there is.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Put letters back onto their streams, to be tried again; doing it twice doubles nothing."""
    answer = ask(url, "POST", f"{PATH}:redrive", select_letters(ids, everything))
    if as_json:
        emit_json(answer)
        return
    talk.print(f"{answer['redriven']} redriven")
    for letter in answer["gone"]:
        talk.print(f"{letter}: not there; redriven or purged before")
    for letter in answer["superseded"]:
        talk.print(f"{letter}: left alone; its event id was accepted anew since, with newer content")


@app.command()
def purge(
    ids: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="Every letter there is.")] = False,
    older_than: Annotated[str | None, typer.Option(help="Letters buried longer ago, e.g. 12h or 30d.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Delete letters for good, payload and all."""
    chosen = select_letters(ids, everything, older_than)
    if not yes:
        typer.confirm(f"Delete {describe_selection(chosen)} for good?", abort=True, err=True)
    answer = ask(url, "POST", f"{PATH}:purge", chosen)
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"{answer['purged']} purged")


def select_letters(ids: Sequence[str] | None, everything: bool, older_than: str | None = None) -> dict[str, Any]:
    """Returns the body that names the letters. Raises Invalid unless exactly one way to choose is used."""
    if [bool(ids), everything, older_than is not None].count(True) != 1:
        raise Invalid("say which letters: give their ids or --all, or to purge also --older-than; only one of these")
    if older_than is not None:
        return {"older_than_s": parse_seconds(older_than)}
    return {"all": True} if everything else {"ids": list(ids or ())}


def parse_seconds(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if match is None:
        raise Invalid(f"--older-than: {text!r} is not a time like 90s, 30m, 12h or 7d")
    return int(match[1]) * SECONDS[match[2]]


def describe_selection(chosen: dict[str, Any]) -> str:
    if "ids" in chosen:
        return f"{len(chosen['ids'])} dead letters"
    return f"all dead letters older than {chosen['older_than_s']} s" if "older_than_s" in chosen else "ALL dead letters"


def letter_table(letters: list[dict[str, Any]]) -> Table:
    table = Table("id", "given up", "tries", "by", "event", "reason", box=None, padding=(0, 2, 0, 0))
    for letter in letters:
        named = (letter["group"], excerpt(letter["event_id"] or "unreadable", 40), excerpt(letter["reason"]))
        table.add_row(letter["id"], format_time(letter["last_seen"]), str(letter["attempts"]), *named)
    return table
