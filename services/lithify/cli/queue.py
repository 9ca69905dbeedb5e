"""`lithify queue`: look at background jobs, and try a failed one again."""

from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

import typer
from rich.table import Column, Table

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json, talk
from lithify.cli.dlq import moment
from lithify.cli.query import AsJson, Url, excerpt
from lithify.settings import load_settings

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
    wanted = {"status": status, "limit": limit} | ({"queue": queue} if queue else {})
    found = Api(load_settings(url=url)).call("GET", f"{PATH}?{urlencode(wanted)}")
    if as_json:
        emit_json(found)
    elif found:
        data.print(job_table(found))
    else:
        talk.print(f"no jobs are {status}")


@app.command()
def show(job: JobId, url: Url = None, as_json: AsJson = False) -> None:
    """Show one job with the trace of its error."""
    found = Api(load_settings(url=url)).call("GET", f"{PATH}/{quote(job, safe='')}")
    if as_json:
        emit_json(found)
        return
    for name, value in found["job"].items():
        if value is not None:
            data.print(f"{name:<14} {moment(value) if name.endswith('_at') else value}", markup=False)
    if found["result"] is not None:
        data.print(f"{'result':<14} {found['result']}", markup=False)
    if found["trace"]:
        data.print(found["trace"], markup=False)


@app.command()
def retry(job: JobId, url: Url = None, as_json: AsJson = False) -> None:
    """Queue a failed job again, with all its attempts before it; it resumes at its checkpoint."""
    answer = Api(load_settings(url=url)).call("POST", f"{PATH}/{quote(job, safe='')}:retry")
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"{answer['job_id']} is queued again")


def job_table(jobs: list[dict[str, Any]]) -> Table:
    # Whole on the narrowest terminal, for it is what `show` and `retry` are given.
    ids = Column("id", no_wrap=True, min_width=max(len(job["job_id"]) for job in jobs))
    table = Table(ids, "queue", "job", "queued", "tries", "reason", box=None, padding=(0, 2, 0, 0))
    for job in jobs:
        queued = moment(job["enqueued_at"]) if job["enqueued_at"] else ""
        reason = excerpt(job["reason"] or "", 80)
        table.add_row(job["job_id"], job["queue"], excerpt(job["name"], 40), queued, str(job["attempts"]), reason)
    return table
