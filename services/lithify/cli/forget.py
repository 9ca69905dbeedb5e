"""`lithify forget`: have a memory, a session, a user or a source forgotten everywhere, and print the receipt."""

import time
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

import typer

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json, talk
from lithify.cli.query import AsJson, Url
from lithify.errors import Invalid, LithifyError
from lithify.settings import load_settings

POLL_S: Final = 0.5


class NotForgotten(LithifyError):
    """The forgetting was given up; what it had not removed yet is still there."""


def forget(
    memory: Annotated[str | None, typer.Option(help="One memory, by its id or path.")] = None,
    session: Annotated[str | None, typer.Option(help="A session of --user.")] = None,
    user: Annotated[str | None, typer.Option(help="All of a user, or whose session or source it is.")] = None,
    source: Annotated[str | None, typer.Option(help="All that came from this source_ref.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Annotated[bool, typer.Option(help="Return when it is done and verified.")] = True,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Forget for good: raw turns and everything made from them, in the store, the streams and the archive."""
    path, words = wanted(memory, session, user, source)
    if not yes:
        typer.confirm(f"Forget {words} for good?", abort=True, err=True)
    api = Api(load_settings(url=url))
    found = api.call("DELETE", path)
    if wait:
        talk.print(f"forgetting {words}", markup=False)
        found = until_ended(api, found)
    report(found, as_json)


def wanted(memory: str | None, session: str | None, user: str | None, source: str | None) -> tuple[str, str]:
    """The path to call and what that is in words. Raises Invalid for a combination that means nothing."""
    match memory, session, user, source:
        case str(), None, None, None:
            return f"/v1/memories/{quote(memory, safe='')}", f"memory {memory}"
        case None, str(), str(), None:
            return f"/v1/sessions/{quote(session, safe='')}?{urlencode({'user': user})}", f"session {session} of {user}"
        case None, None, str(), None:
            return f"/v1/users/{quote(user, safe='')}", f"everything of user {user}"
        case None, None, _, str():
            narrowed = f"?{urlencode({'user': user})}" if user else ""
            return f"/v1/sources/{quote(source, safe='')}{narrowed}", f"everything from source {source}"
    raise Invalid("say what to forget: --memory, --user, --session with --user, or --source (with --user if wanted)")


def until_ended(api: Api, found: dict[str, Any]) -> dict[str, Any]:
    while not (found["receipt"] or found["error"]):
        time.sleep(POLL_S)
        found = api.call("GET", f"/v1/forgettings/{found['id']}")
    return found


def report(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(found)
    elif found["receipt"]:
        counts = found["receipt"]["removed"].items()
        data.print(f"{found['id']}  verified; removed: {', '.join(f'{name} {count}' for name, count in counts)}")
    else:
        data.print(f"{found['id']}  {found['status']}")
    if found["error"]:
        raise NotForgotten(f"the forgetting was given up: {found['error']}")
