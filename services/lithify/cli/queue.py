"""`lithify queue`: look at background jobs, and try a failed one again."""

from typing import Annotated, Any, Final

import typer
from rich.table import Column, Table

from lithify.cli.console import data, emit_json, excerpt, format_time, talk
from lithify.cli.service import AsJson, Url, ask
from lithify.client.call import path

PATH: Final = "/v1/jobs"

app = typer.Typer(
    help="Background jobs: what waits, runs and failed, and trying a failed one again.", no_args_is_help=True
)

JobId = Annotated[str, typer.Argument(metavar="ID", help="The job, as `list` names it.")]


@app.command("list")
def list_jobs(
    status: Annotated[str, typer.Option(help="started, queued, scheduled, failed or finished.")] = "failed",
    queue: Annotated[str | None, typer.Option(help="Only this queue.")] = None,
    limit: Annotated[int, typer.Option(help="How many.", min=1, max=200)] = 50,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show the jobs in one state; failed ones if nothing else is said."""
    found = ask(url, "GET", PATH, params={"status": status, "limit": limit, "queue": queue or None})
    if as_json:
        emit_json(found)
    elif found:
        data.print(job_table(found))
    else:
        talk.print(f"no jobs are {status}")


@app.command()
def show(job: JobId, url: Url = None, as_json: AsJson = False) -> None:
    """Show one job with the trace of its error."""
    found = ask(url, "GET", path("jobs", job))
    if as_json:
        emit_json(found)
        return
    for name, value in found["job"].items():
        if value is not None:
            data.print(f"{name:<14} {format_time(value) if name.endswith('_at') else value}", markup=False)
    if found["result"] is not None:
        data.print(f"{'result':<14} {found['result']}", markup=False)
    if found["trace"]:
        data.print(found["trace"], markup=False)


@app.command()
def retry(job: JobId, url: Url = None, as_json: AsJson = False) -> None:
    """Queue a failed job again, with all its attempts before it; it resumes at its checkpoint."""
    answer = ask(url, "POST", f"{path('jobs', job)}:retry", tries=1)
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"{answer['job_id']} is queued again")


def job_table(jobs: list[dict[str, Any]]) -> Table:
    # Whole on the narrowest terminal, for it is what `show` and `retry` are given.
    ids = Column("id", no_wrap=True, min_width=max(len(job["job_id"]) for job in jobs))
    table = Table(ids, "queue", "job", "queued", "tries", "reason", box=None, padding=(0, 2, 0, 0))
    for job in jobs:
        queued = format_time(job["enqueued_at"] or None)
        reason = excerpt(job["reason"] or "", 80)
        table.add_row(job["job_id"], job["queue"], excerpt(job["name"], 40), queued, str(job["attempts"]), reason)
    return table
