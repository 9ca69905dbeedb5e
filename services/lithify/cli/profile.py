"""`lithify profile`: print a retrieval profile as a file that can be saved and changed."""

import sys
from typing import Annotated

import typer

from lithify.node.parts import retrieval_profile
from lithify.profiles import render_profile
from lithify.settings import load_settings

app = typer.Typer(
    help="Retrieval profiles: every constant of scoring, budgets, gate and compaction.", no_args_is_help=True
)

Choice = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME|FILE]",
        help="recall, seed or a .toml file; LITHIFY_RETRIEVAL_PROFILE if left out.",
        show_default=False,
    ),
]


@app.command()
def show(profile: Choice = None) -> None:
    """Print a profile as the system would use it, in TOML, with what each field may be; exits 3 if it is not valid."""
    sys.stdout.write(render_profile(retrieval_profile(load_settings(retrieval_profile=profile))))


@app.callback()
def profiles() -> None:
    """Keeps `show` a command of its own: with a single one Typer would leave its name out."""
