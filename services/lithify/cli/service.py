"""The running service that a command talks to: the options that name it, and the client that asks it."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

import typer

from lithify.client import Memory
from lithify.errors import Overloaded
from lithify.settings import Settings, load_settings

T = TypeVar("T")
Url = Annotated[str | None, typer.Option(help="Service to talk to (LITHIFY_URL).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

# An answer may wait for `?wait=searchable`.
TIMEOUT_S: Final = 60.0
# An outage of about a second is not noticed.
TRIES: Final = 4
# About two minutes: a node that restarts is back within seconds; longer outages are for the operator to look at.
PATIENT_TRIES: Final = 18


def connect(settings: Settings, tries: int = TRIES) -> Memory:
    """Opens a client of `LITHIFY_URL` with the rights of `LITHIFY_API_KEY`; the caller closes it."""
    key = settings.api_key
    return Memory(
        settings.url.rstrip("/"),
        api_key=key.get_secret_value() if key else None,
        timeout_s=TIMEOUT_S,
        tries=tries,
    )


def ask(
    url: str | None,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    params: Mapping[str, object] | None = None,
    tries: int = TRIES,
) -> Any:
    """Asks the service for one answer and returns its JSON; refusals are raised as our own errors in its words.

    What must not happen twice is asked with one try: an answer that was lost on its way may have had its effect.
    """
    with connect(load_settings(url=url), tries) as service:
        return service.request_json(method, path, body, params)


def wait_out_load(call: Callable[[], T]) -> T:
    """Asks again for as long as the service says it is busy: being asked to wait is no outage."""
    while True:
        try:
            return call()
        except Overloaded:
            continue
