"""`lithify docs`: keep repository documents in memory, find them, and measure how well they are found."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from lithify.cli.console import data, emit_json, excerpt, format_minute, talk, warn_degraded
from lithify.cli.docs.sync import SyncRequest, SyncTotals, sync_folder
from lithify.cli.service import PATIENT_TRIES, AsJson, Url, ask, connect
from lithify.client.call import path as api_path
from lithify.docs.folder.reading import Folder, checked_folder, parse_allowlist
from lithify.docs.sources import DOC_KINDS, SOURCE_KINDS, checked_kind, checked_repo, checked_source_kind
from lithify.errors import Invalid
from lithify.settings import load_settings

SHOWN_SKIPS = 20

app = typer.Typer(help="Docs memory: documents of repositories, cut into citable pieces.", no_args_is_help=True)

RepoOption = Annotated[str, typer.Option("--repo", help="Name of the repository: letters, digits, '.', '_', '-'.")]
RepoArgument = Annotated[str, typer.Argument(metavar="REPO", help="Name of the repository.")]


@app.command()
def sync(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder with the documents.")],
    repo: RepoOption,
    include: Annotated[
        list[str] | None, typer.Option(help="Pattern of files, such as 'docs/**/*.md'; may be repeated.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help=f"Kind of all of them ({', '.join(DOC_KINDS)}).")] = None,
    source_kind: Annotated[str, typer.Option(help=f"Where they come from: {', '.join(SOURCE_KINDS)}.")] = "operator",
    since: Annotated[str | None, typer.Option(metavar="REV", help="Only what differs from this git revision.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Bring a folder's documents into memory; what has not changed is not sent, what is gone is removed."""
    settings = load_settings(url=url)
    source = Folder(
        checked_folder(folder, list(settings.docs_roots.values())),
        parse_allowlist(include or settings.docs_include),
        None if kind is None else checked_kind(kind),
        checked_source_kind(source_kind),
    )
    with connect(settings, PATIENT_TRIES) as service:
        totals = sync_folder(service, SyncRequest(check_repo(repo), source, since))
    if as_json:
        emit_json(asdict(totals))
    else:
        print_totals(totals)
    if totals.refused:
        raise Invalid(f"{len(totals.refused)} documents were refused; everything else was sent")


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    repo: Annotated[list[str] | None, typer.Option(help="Only this repository; may be repeated.")] = None,
    limit: Annotated[int, typer.Option(help="How many hits.")] = 6,
    mode: Annotated[str, typer.Option(help="fused, lexical or dense.")] = "fused",
    fusion: Annotated[str, typer.Option(help="adaptive, rrf or weighted.")] = "adaptive",
    decay: Annotated[bool, typer.Option(help="Let dated documents lose weight with age.")] = False,
    mmr: Annotated[bool, typer.Option(help="Prefer variety.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Find pieces of documents, with the lines they stand in."""
    body = {"query": query, "repos": repo or [], "limit": limit, "mode": mode, "fusion": fusion}
    answer = ask(url, "POST", "/v1/docs/search", body | {"decay": decay, "mmr": mmr})
    warn_degraded(answer["degraded"])
    if as_json:
        emit_json(answer)
    elif answer["hits"]:
        data.print(hit_table(answer["hits"]))
        talk.print(f"why: lithify explain {answer['trace_id']}")
    else:
        talk.print("nothing found")


@app.command()
def bench(
    questions: Annotated[
        Path | None, typer.Argument(metavar="QUESTIONS.yaml", help="Questions; unset takes the shipped ones.")
    ] = None,
    repo: Annotated[str | None, typer.Option(help="The repository the questions are about; all if unset.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Measure Hit@1, Hit@5 and the hint rate by words, by meaning and by both.

    Your own questions are asked at the running service; the shipped ones at a store of their own, with the shipped
    documents in it.
    """
    from lithify.cli.docs import bench as docs_bench  # noqa: PLC0415 - the others start without what it needs

    settings = load_settings(url=url)
    if questions is None:
        report = docs_bench.measure_shipped(settings)
    else:
        report = docs_bench.measure_service(settings, questions, repo)
    if as_json:
        emit_json(report)
    else:
        docs_bench.show(report)


@app.command("list")
def list_repositories(url: Url = None, as_json: AsJson = False) -> None:
    """Show the repositories that are kept."""
    answer = ask(url, "GET", "/v1/docs")
    if as_json:
        emit_json(answer)
    elif answer["repos"]:
        data.print(repo_table(answer["repos"]))
        if answer["unembedded"]:
            talk.print(f"{answer['unembedded']} pieces wait for their vectors and are found by their words meanwhile")
    else:
        talk.print("no documents; bring some with `lithify docs sync DIR --repo NAME`")


@app.command()
def promote(
    repo: RepoArgument,
    path: Annotated[str, typer.Argument(help="Path of the document in its repository.")],
    by: Annotated[str, typer.Option(help="Who decides.")],
    why: Annotated[str, typer.Option(help="The reason; it is kept.")],
    trust: Annotated[str, typer.Option(help="trusted, or untrusted to take trust away.")] = "trusted",
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Rule that a document may be quoted as trusted; the ruling is kept."""
    body = {"trust": trust, "by": by, "why": why}
    answer = ask(url, "POST", f"{document_path(repo, path)}:promote", body, tries=1)
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"{answer['path']}: {answer['before']} → {answer['after']} by {answer['by']}", markup=False)


@app.command()
def remove(
    repo: RepoArgument,
    path: Annotated[str | None, typer.Argument(help="One document; all of the repository if unset.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Remove a document, or all of a repository."""
    if not yes:
        typer.confirm(f"Remove {path or 'all documents'} of {repo}?", abort=True, err=True)
    target = api_path("docs", check_repo(repo)) if path is None else document_path(repo, path)
    answer = ask(url, "DELETE", target)
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"{answer['removed']} documents of {repo} removed", markup=False)


@app.command()
def lane(url: Url = None, as_json: AsJson = False) -> None:
    """Show what the scheduled refresh and benchmark found last."""
    answer = ask(url, "GET", "/v1/docs/lane")
    if as_json:
        emit_json(answer)
        return
    last = answer["last"]
    if last is None:
        talk.print("the lane has not run; set LITHIFY_DOCS_ROOTS and LITHIFY_DOCS_REFRESH_MINUTES")
        return
    data.print(lane_table(last))
    warn_degraded(last["trouble"])
    for reason in last["reasons"]:
        talk.print(reason, markup=False)


def check_repo(repo: str) -> str:
    """Returns the name. Raises Invalid for one with a slash: over HTTP it is one part of a path."""
    if "/" in repo:
        raise Invalid(f"repo {repo!r} must not contain '/'; use a name such as {repo.replace('/', '.')!r}")
    return checked_repo(repo)


def document_path(repo: str, path: str) -> str:
    return f"{api_path('docs', check_repo(repo))}/{quote(path)}"


def print_totals(totals: SyncTotals) -> None:
    names = ("added", "changed", "removed", "unchanged")
    counts = ", ".join(f"{getattr(totals, name)} {name}" for name in names)
    version = f" at {totals.version[:19]}" if totals.version else ""
    talk.print(f"{counts}{version}", markup=False)
    for one in totals.skipped[:SHOWN_SKIPS]:
        talk.print(f"skipped: {one.path} {one.reason}", markup=False)
    if len(totals.skipped) > SHOWN_SKIPS:
        talk.print(f"skipped: {len(totals.skipped) - SHOWN_SKIPS} more (--json names all)")
    for reason in totals.refused[:SHOWN_SKIPS]:
        talk.print(f"refused: {reason}", markup=False)


def hit_table(hits: list[dict[str, Any]]) -> Table:
    table = Table("score", "words", "meaning", "where", "text", box=None, padding=(0, 2, 0, 0))
    for hit in hits:
        parts = hit["components"]
        ranks = [str(parts[name] or "") for name in ("lexical_rank", "vector_rank")]
        table.add_row(f"{hit['score']:.4f}", *ranks, excerpt(citation(hit), 60), excerpt(hit["text"], 100))
    return table


def citation(hit: dict[str, Any]) -> str:
    lines = "" if hit["lines"] is None else f":{hit['lines'][0]}-{hit['lines'][1]}"
    return f"{hit['repo']}/{hit['path']}{lines}"


def repo_table(repos: list[dict[str, Any]]) -> Table:
    table = Table("repo", "version", "files", "chunks", "synced", box=None, padding=(0, 2, 0, 0))
    for one in repos:
        version = excerpt((one["version"] or "")[:19])
        counts = (str(one["files"]), str(one["chunks"]))
        table.add_row(one["repo"], version, *counts, format_minute(one["synced_at"]))
    return table


def lane_table(receipt: dict[str, Any]) -> Table:
    table = Table(format_minute(receipt["at"]), "asked", "Hit@1", "Hit@5", "hint rate", box=None, padding=(0, 2, 0, 0))
    for mode, score in (receipt["scores"] or {}).items():
        shares = (score["hit1"], score["hit5"], score["hint_rate"])
        table.add_row(mode, str(score["asked"]), *(f"{share:.3f}" for share in shares))
    return table
