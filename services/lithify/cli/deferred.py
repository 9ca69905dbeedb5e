"""Commands whose module is imported when they run: asking a service a question must not load the embedding engine."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group


def defer(app: typer.Typer, name: str, target: str, words: str) -> None:
    """Registers `module:attribute`, a function or a Typer of subcommands; `words` are its line in the list."""

    class Deferred(TyperCommand):
        def make_context(self, *args: Any, **kwargs: Any) -> Any:
            return load_command(name, target).make_context(*args, **kwargs)

    app.command(name, cls=Deferred, help=words)(stand_in)


def load_command(name: str, target: str) -> Any:
    """Imports the command and returns it."""
    module, _, attribute = target.partition(":")
    found = getattr(import_module(module), attribute)
    if isinstance(found, typer.Typer):
        return get_group(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(found)
    return get_command(alone)


def stand_in() -> None:
    """Never runs: the context of a deferred command is that of the loaded one."""
