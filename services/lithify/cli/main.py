"""Entry point of the command `lithify`."""

import sys

import typer

from lithify.cli import (
    authored,
    backfill,
    calibrate,
    compact,
    dlq,
    doctor,
    explain,
    export,
    forget,
    import_,
    ingest,
    keys,
    models,
    query,
    rebuild,
    reembed,
    serve,
    status,
)
from lithify.cli import eval as evaluation
from lithify.cli.bench import app as bench
from lithify.cli.console import talk
from lithify.errors import LithifyError, Misconfigured

EXIT_FAILED = 1
EXIT_COULD_NOT_START = 3

app = typer.Typer(
    help="Memory for LLM agents: ingest turns, search them, and assemble the memory part of a prompt.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(serve.up)
app.command()(serve.serve)
app.command()(serve.worker)
app.command()(serve.jobs)
app.command()(ingest.ingest)
app.command()(query.search)
app.command()(query.assemble)
app.command()(status.status)
app.command()(doctor.doctor)
app.command()(rebuild.rebuild)
app.command()(reembed.reembed)
app.command()(backfill.backfill)
app.command()(compact.compact)
app.command()(explain.explain)
app.command()(forget.forget)
app.command()(export.export)
app.command("import")(import_.import_records)
app.add_typer(authored.app, name="authored")
app.add_typer(evaluation.app, name="eval")
app.add_typer(dlq.app, name="dlq")
app.add_typer(keys.app, name="keys")
app.add_typer(models.app, name="models")
app.add_typer(calibrate.app, name="calibrate")
app.add_typer(bench, name="bench")


def run() -> None:
    """Our own errors become one readable line; anything else is a bug and shows its traceback."""
    try:
        app()
    except Misconfigured as error:
        _complain(error)
        sys.exit(EXIT_COULD_NOT_START)
    except LithifyError as error:
        _complain(error)
        sys.exit(EXIT_FAILED)


def _complain(error: LithifyError) -> None:
    talk.print(f"lithify: {error}", markup=False, soft_wrap=True)
