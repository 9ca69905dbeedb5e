"""`lithify rebuild`: makes the memories anew from the archive, and later removes what was kept of the former ones."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from lithify.cli.console import emit_json, talk
from lithify.node.rebuild import Report, drop_kept, run_rebuild
from lithify.settings import load_settings
from lithify.telemetry import configure_logs


def rebuild(
    archive_only: Annotated[
        bool, typer.Option("--archive-only", help="Leave behind what is not in the archive: summaries, promotions, …")
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Only remove what earlier rebuilds kept of the former memories.")
    ] = False,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of all data (LITHIFY_DATA_DIR).")] = None,
    archive_dir: Annotated[Path | None, typer.Option(help="Folder of the archive.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a new collection from the archive, verify it, and put it in the place of the present one.

    A killed rebuild goes on where it was when it is run again. The former memories are kept until --drop-old.
    """
    settings = load_settings(data_dir=data_dir, archive_dir=archive_dir)
    configure_logs(settings.log_level, settings.log_format)
    archive = settings.archive_folder
    if drop_old:
        report_dropped(asyncio.run(drop_kept(settings, archive)), as_json)
        return
    with Bars() as bars:
        report = asyncio.run(run_rebuild(settings, archive, carry=not archive_only, told=bars.tell))
    report_rebuilt(report, as_json)


class Bars(Progress):
    """One bar per stage of the work, made when it is first told of; silent where nobody watches."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=talk, disable=not talk.is_terminal)
        self._stages: dict[str, TaskID] = {}

    def tell(self, stage: str, done: int, total: int) -> None:
        if stage not in self._stages:
            self._stages[stage] = self.add_task(stage)
        self.update(self._stages[stage], completed=done, total=total)


def report_dropped(names: list[str], as_json: bool) -> None:
    if as_json:
        emit_json({"dropped": names})
    else:
        talk.print(f"removed {', '.join(names)}" if names else "nothing was kept", markup=False)


def report_rebuilt(report: Report, as_json: bool) -> None:
    for damage in report.damage:
        talk.print(f"damaged: {damage}", markup=False, soft_wrap=True)
    if as_json:
        emit_json(asdict(report))
        return
    talk.print(summary(report), markup=False, soft_wrap=True)


def summary(report: Report) -> str:
    carried = ", ".join(f"{count} {kind}" for kind, count in sorted(report.carried.items()) if count) or "nothing"
    lines = [
        f"{report.archived} archived events: {report.verified} turns verified, {report.embedded} of them embedded now, "
        f"{report.ignored} never become memory, {report.refused} cannot",
        f"carried over: {carried}; came meanwhile: {report.late}",
    ]
    if report.kept is not None:
        lines.append(f"the former memories are kept as {report.kept}; remove them with `lithify rebuild --drop-old`")
    return "\n".join(lines)
