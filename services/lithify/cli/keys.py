"""`lithify keys`: make, list and revoke API keys."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.table import Table

from lithify.access import ApiKeyRequest
from lithify.cli.console import data, emit_json, talk
from lithify.cli.key_desk import KeyDesk, Row, desk_for
from lithify.errors import Invalid
from lithify.settings import load_settings

app = typer.Typer(help="API keys: who may send and read what. The first key closes the service to all who have none.")

Url = Annotated[
    str | None,
    typer.Option(help="Service to ask with LITHIFY_API_KEY; unset uses the Redis of this machine where there is one."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


@app.command()
def create(
    tenant: Annotated[str | None, typer.Option(help="Whose memory the key opens.")] = None,
    scopes: Annotated[str, typer.Option(help="ingest, read, or admin (everything), by commas.")] = "ingest,read",
    name: Annotated[str, typer.Option(help="What people call it, e.g. the host that uses it.")] = "",
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, the only time it can be read."""
    row = desk(url).create(wanted_key(tenant, scopes, name))
    if as_json:
        emit_json(row)
        return
    data.print(row["key"], markup=False)
    talk.print(f"key {row['id']} of tenant {row['tenant']}; keep it safe, it is not shown again", markup=False)


@app.command("list")
def list_keys(url: Url = None, as_json: AsJson = False) -> None:
    """Show all keys, live and revoked, without their secrets."""
    rows = desk(url).rows()
    if as_json:
        emit_json({"keys": rows})
    elif rows:
        data.print(key_table(rows))
    else:
        talk.print("no keys: the service is open to its own machine, and to nobody else")


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `list` shows it.")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Make a key worthless for good; every process refuses it within a second."""
    row = desk(url).revoke(key)
    if as_json:
        emit_json(row)
    else:
        talk.print(f"key {row['id']} of tenant {row['tenant']} is revoked", markup=False)


def desk(url: str | None) -> KeyDesk:
    return desk_for(load_settings(url=url), by_service=url is not None)


def wanted_key(tenant: str | None, scopes: str, name: str) -> ApiKeyRequest:
    named = {} if tenant is None else {"tenant": tenant}
    given = {**named, "scopes": [scope.strip() for scope in scopes.split(",")], "name": name}
    try:
        return ApiKeyRequest.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(f"--{first['loc'][0]}: {first['msg']}") from None


def key_table(rows: list[Row]) -> Table:
    table = Table("id", "tenant", "scopes", "name", "created", "revoked", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        words = (row["id"], row["tenant"], ",".join(row["scopes"]), row["name"])
        times = (moment(row["created_at"]), moment(row["revoked_at"]))
        table.add_row(*(word.replace("[", r"\[") for word in words), *times)
    return table


def moment(ms: int | None) -> str:
    return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
