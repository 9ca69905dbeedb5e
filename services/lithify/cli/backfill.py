"""`lithify backfill`: has the running node make the vectors that could not be made when their turns arrived."""

from typing import Annotated

import typer

from lithify.cli.api import Api
from lithify.cli.console import emit_json, talk
from lithify.settings import load_settings

PATH = "/v1/maintenance/backfill"


def backfill(
    url: Annotated[str | None, typer.Option(help="Service to talk to (LITHIFY_URL).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Start making missing vectors now; it happens every hour anyway."""
    answer = Api(load_settings(url=url)).call("POST", PATH)
    if as_json:
        emit_json(answer)
    else:
        talk.print(f"job {answer['job_id']} is {'queued' if answer['is_new'] else 'under way already'}", markup=False)
