"""`lithify forget`: have a memory, a session, a user or a source forgotten everywhere, and print the receipt."""

import time
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from lithify.cli.console import data, emit_json, talk
from lithify.cli.service import AsJson, Url, connect
from lithify.client import Memory
from lithify.client.call import path
from lithify.errors import Invalid, LithifyError
from lithify.settings import load_settings

POLL_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class ForgetCall:
    """One call of the service, and what it forgets in words."""

    path: str
    words: str
    user: str | None = None


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
    wanted = choose_forgetting(memory, session, user, source)
    if not yes:
        typer.confirm(f"Forget {wanted.words} for good?", abort=True, err=True)
    with connect(load_settings(url=url)) as service:
        found = service.request_json("DELETE", wanted.path, params={"user": wanted.user})
        if wait:
            talk.print(f"forgetting {wanted.words}", markup=False)
            found = wait_until_ended(service, found)
    report(found, as_json)


def choose_forgetting(memory: str | None, session: str | None, user: str | None, source: str | None) -> ForgetCall:
    """Returns the call to make. Raises Invalid for a combination that means nothing."""
    match memory, session, user, source:
        case str(), None, None, None:
            return ForgetCall(path("memories", memory), f"memory {memory}")
        case None, str(), str(), None:
            return ForgetCall(path("sessions", session), f"session {session} of {user}", user)
        case None, None, str(), None:
            return ForgetCall(path("users", user), f"everything of user {user}")
        case None, None, _, str():
            return ForgetCall(path("sources", source), f"everything from source {source}", user or None)
    raise Invalid("say what to forget: --memory, --user, --session with --user, or --source (with --user if wanted)")


def wait_until_ended(service: Memory, found: dict[str, Any]) -> dict[str, Any]:
    while not (found["receipt"] or found["error"]):
        time.sleep(POLL_S)
        found = service.request_json("GET", path("forgettings", found["id"]))
    return found


def report(found: dict[str, Any], as_json: bool) -> None:
    """Prints the receipt. Raises NotForgotten if the work was given up."""
    if as_json:
        emit_json(found)
    elif found["receipt"]:
        counts = found["receipt"]["removed"].items()
        data.print(f"{found['id']}  verified; removed: {', '.join(f'{name} {count}' for name, count in counts)}")
        for one in found["receipt"].get("remains", ()):
            data.print(f"  still in files: {one['place']} ({one['why']})")
    else:
        data.print(f"{found['id']}  {found['status']}")
    if found["error"]:
        raise NotForgotten(f"the forgetting was given up: {found['error']}")
