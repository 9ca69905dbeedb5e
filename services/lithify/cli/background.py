"""`lithify compact` and `lithify backfill`: ask the running service for a background job."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from lithify.cli.console import data, emit_json, talk
from lithify.cli.service import AsJson, Url, ask, connect
from lithify.client import Memory
from lithify.client.call import path
from lithify.errors import LithifyError
from lithify.settings import load_settings

POLL_S: Final = 0.2
ENDED: Final = frozenset({"finished", "failed", "stopped", "canceled"})


class CompactionFailed(LithifyError):
    """The compaction was given up."""


def compact(
    session: Annotated[str, typer.Argument(help="The conversation.")],
    user: Annotated[str, typer.Option(help="Whose conversation it is.")],
    force: Annotated[bool, typer.Option("--force", help="Also when there is little to summarise.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Return when it is done, and say what it did.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Summarise the old turns of a session; raw turns stay, and the newest stay as they are."""
    job = path("sessions", session, "compact")
    with connect(load_settings(url=url)) as service:
        answer = service.request_json("POST", job, {"user": user, "force": force})
        if not wait:
            print_job(answer, as_json, "queued" if answer["is_new"] else "waits or runs already")
            return
        talk.print("waiting for the compaction")
        ended = wait_until_ended(service, job, user)
    print_job(ended, as_json, describe_result(ended["result"] or {}))
    check_finished(ended)


def wait_until_ended(service: Memory, job: str, user: str) -> dict[str, Any]:
    """Polls without end: a long session may need minutes."""
    while True:
        state: dict[str, Any] = service.request_json("GET", job, params={"user": user})
        if state["status"] in ENDED:
            return state
        time.sleep(POLL_S)


def check_finished(ended: Mapping[str, Any]) -> None:
    """Raises CompactionFailed for a job that came to another end."""
    if ended["status"] != "finished":
        raise CompactionFailed(f"the compaction {ended['status']}: {ended['error'] or 'no reason is known'}")


def print_job(answer: Mapping[str, Any], as_json: bool, words: str) -> None:
    if as_json:
        emit_json(answer)
    else:
        data.print(f"{answer['job_id']}  {words}", markup=False)


def describe_result(result: Mapping[str, Any]) -> str:
    if not result.get("did_compact"):
        return f"nothing compacted; {result.get('clusters_declined', 0)} clusters declined"
    made = result["clusters_formed"] - result["clusters_declined"]
    return (
        f"{result['turns_removed']} turns became {made} summaries ({result['summary_method']}, "
        f"confidence {result['mean_confidence']:.2f}); {result['clusters_declined']} clusters declined"
    )


def backfill(url: Url = None, as_json: AsJson = False) -> None:
    """Start making missing vectors now; it happens every hour anyway."""
    answer = ask(url, "POST", path("maintenance", "backfill"))
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"job {answer['job_id']} is {'queued' if answer['is_new'] else 'under way already'}", markup=False)
