"""`lithify rebuild` and `lithify reembed`: make a new collection from the archive, or with another model."""

import asyncio
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from lithify.cli.console import emit_json, talk
from lithify.cli.progress import StageBars
from lithify.node import reembed as reembedding
from lithify.node.privacy import restrict_new_files
from lithify.node.rebuild import RebuildReport, drop_kept, run_rebuild
from lithify.settings import load_settings
from lithify.telemetry import configure_logs

DataDir = Annotated[Path | None, typer.Option(help="Folder of all data (LITHIFY_DATA_DIR).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def rebuild(
    archive_only: Annotated[
        bool, typer.Option("--archive-only", help="Leave behind what is not in the archive: summaries, promotions, …")
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Only remove what earlier rebuilds kept of the former memories.")
    ] = False,
    data_dir: DataDir = None,
    archive_dir: Annotated[Path | None, typer.Option(help="Folder of the archive.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a new collection from the archive, verify it, and put it in the place of the present one.

    A killed rebuild goes on where it was when it is run again. The former memories are kept until --drop-old.
    """
    settings = load_settings(data_dir=data_dir, archive_dir=archive_dir)
    configure_logs(settings.log_level, settings.log_format)
    restrict_new_files()
    archive = settings.archive_folder
    if drop_old:
        report_dropped(asyncio.run(drop_kept(settings, archive)), as_json)
        return
    with StageBars() as bars:
        report = asyncio.run(run_rebuild(settings, archive, carry=not archive_only, progress=bars.show))
    report_rebuilt(report, as_json)


def report_dropped(names: list[str], as_json: bool) -> None:
    if as_json:
        emit_json({"dropped": names})
    else:
        talk.print(f"removed {', '.join(names)}" if names else "nothing was kept", markup=False)


def report_rebuilt(report: RebuildReport, as_json: bool) -> None:
    for damage in report.damage:
        talk.print(f"damaged: {damage}", markup=False, soft_wrap=True)
    if as_json:
        emit_json(asdict(report))
        return
    talk.print(describe_rebuild(report), markup=False, soft_wrap=True)


def describe_rebuild(report: RebuildReport) -> str:
    carried = ", ".join(f"{count} {kind}" for kind, count in sorted(report.carried.items()) if count) or "nothing"
    lines = [
        f"{report.archived} archived events: {report.verified} turns verified, {report.embedded} of them embedded now, "
        f"{report.ignored} never become memory, {report.refused} cannot",
        f"carried over: {carried}; came meanwhile: {report.late}",
    ]
    if report.kept is not None:
        lines.append(f"the former memories are kept as {report.kept}; remove them with `lithify rebuild --drop-old`")
    return "\n".join(lines)


def reembed(
    profile: Annotated[
        str | None, typer.Option(help="The model to move to (LITHIFY_EMBEDDING_PROFILE); use it from then on.")
    ] = None,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Only remove the memories of former models that were kept.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Embed all memories with the configured model into a new collection, and put it in the place of the present one.

    A killed run goes on where it was when it is run again. With the embedded store, stop the node first; with servers,
    services go on until the switch and then wait to be restarted with the new model.
    """
    settings = load_settings(data_dir=data_dir, embedding_profile=profile)
    configure_logs(settings.log_level, settings.log_format)
    restrict_new_files()
    if drop_old:
        report_dropped(asyncio.run(reembedding.drop_former(settings)), as_json)
        return
    with StageBars() as bars:
        report = asyncio.run(reembedding.run_reembed(settings, bars.show))
    if as_json:
        emit_json(asdict(report))
    else:
        talk.print(describe_reembedding(report, settings.embedding_profile), markup=False, soft_wrap=True)


def describe_reembedding(report: reembedding.ReembedReport, profile: str) -> str:
    documents = report.documents or reembedding.ReembedReport()
    if replace(report, documents=None) == reembedding.ReembedReport() == documents:
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
