"""`lithify reembed`: moves the memories to the configured embedding model, and later removes the former ones."""

import asyncio
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from lithify.cli.console import emit_json, talk
from lithify.cli.rebuild import Bars, report_dropped
from lithify.node.reembed import Report, drop_former, run_reembed
from lithify.settings import load_settings
from lithify.telemetry import configure_logs


def reembed(
    profile: Annotated[
        str | None, typer.Option(help="The model to move to (LITHIFY_EMBEDDING_PROFILE); use it from then on.")
    ] = None,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Only remove the memories of former models that were kept.")
    ] = False,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of all data (LITHIFY_DATA_DIR).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Embed all memories with the configured model into a new collection, and put it in the place of the present one.

    A killed run goes on where it was when it is run again. With the embedded store, stop the node first; with servers,
    services go on until the switch and then wait to be restarted with the new model.
    """
    settings = load_settings(data_dir=data_dir, embedding_profile=profile)
    configure_logs(settings.log_level, settings.log_format)
    if drop_old:
        report_dropped(asyncio.run(drop_former(settings)), as_json)
        return
    with Bars() as bars:
        report = asyncio.run(run_reembed(settings, bars.tell))
    if as_json:
        emit_json(asdict(report))
    else:
        talk.print(summary(report, settings.embedding_profile), markup=False, soft_wrap=True)


def summary(report: Report, profile: str) -> str:
    documents = report.documents or Report()
    if replace(report, documents=None) == Report() == documents:
        return f"the memories have the vectors of {profile} already"
    lines = [
        f"{report.records} records moved to {profile}: {report.embedded} embedded now, {report.failed} could not be "
        f"(backfill tries again), {report.late} came meanwhile",
        f"{documents.records} records of documents: {documents.embedded} embedded now, {documents.failed} could not be",
        f"from now on start every part with LITHIFY_EMBEDDING_PROFILE={profile}",
    ]
    if kept := [one.kept for one in (report, documents) if one.kept is not None]:
        names = " and ".join(kept)
        lines.append(f"the former records are kept as {names}; remove them with `lithify reembed --drop-old`")
    return "\n".join(lines)
