"""`lithify authored`: put, list, show and delete the documents whose rules and text every prompt may use."""

from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

import typer
from rich.table import Table

from lithify.cli.console import data, emit_json, excerpt, talk
from lithify.cli.service import AsJson, Url, ask
from lithify.errors import Invalid

PATH: Final = "/v1/authored"

app = typer.Typer(help="Authored documents: rules and notes in Markdown, the same for all users.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The document, as `list` names it.")]


@app.command()
def put(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The Markdown file.")],
    name: Annotated[str | None, typer.Option(help="Name of the document; the file's own if unset.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Write a document or replace it."""
    answer = ask(url, "PUT", document_path(name or file.name), {"text": read_markdown(file)})
    if as_json:
        emit_json(answer)
        return
    nodes = answer["nodes"]
    state = "stored" if answer["changed"] else "unchanged"
    standing = "core" if answer["core"] else "standard"
    counts = f"{nodes['hard']} hard and {nodes['soft']} soft rules, {nodes['variant']} searchable"
    talk.print(f"{answer['name']} {state} ({standing}): {counts}", markup=False)


@app.command("list")
def list_documents(url: Url = None, as_json: AsJson = False) -> None:
    """Show all documents."""
    answer = ask(url, "GET", PATH)
    if as_json:
        emit_json(answer)
    elif answer["documents"]:
        data.print(document_table(answer["documents"]))
    else:
        talk.print("no authored documents")


@app.command()
def show(name: Name, url: Url = None, as_json: AsJson = False) -> None:
    """Show where every piece of a document went."""
    answer = ask(url, "GET", document_path(name))
    if as_json:
        emit_json(answer)
    else:
        data.print(node_table(answer["nodes"]))


@app.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Remove a document with all its rules."""
    if not yes:
        typer.confirm(f"Delete {name} and its rules?", abort=True, err=True)
    answer = ask(url, "DELETE", document_path(name))
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"{answer['name']} deleted", markup=False)


def document_path(name: str) -> str:
    return f"{PATH}/{quote(name)}"


def read_markdown(file: Path) -> str:
    """Reads a file byte for byte, so that it and the document have the same hash. Raises Invalid."""
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{file} is not UTF-8 text: bad byte at offset {error.start}") from error


def document_table(documents: list[dict[str, Any]]) -> Table:
    table = Table("name", "standing", "origin", "bytes", "hash", box=None, padding=(0, 2, 0, 0))
    for one in documents:
        standing = "core" if one["core"] else "standard"
        table.add_row(excerpt(one["name"]), standing, one["origin"], str(one["bytes"]), one["hash"][:19])
    return table


def node_table(nodes: list[dict[str, Any]]) -> Table:
    table = Table("tier", "kind", "tokens", "id", "text", box=None, padding=(0, 2, 0, 0))
    for node in nodes:
        table.add_row(node["tier"], node["kind"], str(node["tokens"]), excerpt(node["id"], 60), excerpt(node["text"]))
    return table
