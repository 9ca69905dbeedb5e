"""`lithify compact`: have the old turns of a session summarised, and wait for it if wanted."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

import typer

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json, talk
from lithify.cli.query import AsJson, Url
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
    api, path = Api(load_settings(url=url)), f"/v1/sessions/{quote(session, safe='')}/compact"
    answer = api.call("POST", path, {"user": user, "force": force})
    if not wait:
        report(answer, as_json, "queued" if answer["is_new"] else "waits or runs already")
        return
    talk.print("waiting for the compaction")
    ended = until_ended(api, f"{path}?{urlencode({'user': user})}")
    report(ended, as_json, told(ended["result"] or {}))
    if ended["status"] != "finished":
        raise CompactionFailed(f"the compaction {ended['status']}: {ended['error'] or 'no reason is known'}")


def until_ended(api: Api, path: str) -> dict[str, Any]:
    while True:
        state: dict[str, Any] = api.call("GET", path)
        if state["status"] in ENDED:
            return state
        time.sleep(POLL_S)


def report(answer: Mapping[str, Any], as_json: bool, words: str) -> None:
    if as_json:
        emit_json(answer)
    else:
        data.print(f"{answer['job_id']}  {words}", markup=False)


def told(result: Mapping[str, Any]) -> str:
    if not result.get("did_compact"):
        return f"nothing compacted; {result.get('clusters_declined', 0)} clusters declined"
    made = result["clusters_formed"] - result["clusters_declined"]
    return (
        f"{result['turns_removed']} turns became {made} summaries ({result['summary_method']}, "
        f"confidence {result['mean_confidence']:.2f}); {result['clusters_declined']} clusters declined"
    )
