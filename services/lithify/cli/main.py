"""Entry point of the command `lithify`."""

import sys

import typer

from lithify.cli.console import talk
from lithify.cli.deferred import defer
from lithify.errors import LithifyError, Misconfigured

EXIT_FAILED = 1
EXIT_COULD_NOT_START = 3

app = typer.Typer(
    help="Memory for LLM agents: ingest turns, search them, and assemble the memory part of a prompt.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
# A new command is one line here: its name, where it is (a function, or a Typer of subcommands), and its line in the
# list, which a test compares with the docstring. Nothing of it is imported before it runs.
COMMANDS = (
    (
        "up",
        "lithify.cli.serve:up",
        "Run the whole system in this process, on embedded parts unless the settings name remote ones.",
    ),
    (
        "demo",
        "lithify.cli.demo.tour:demo",
        "Show in about a minute what Lithify does: ingest, promote, compact, assemble and explain.",
    ),
    ("serve", "lithify.cli.serve:serve", "Run one service by itself, against a Redis and a Qdrant server."),
    (
        "worker",
        "lithify.cli.serve:worker",
        "Run one worker process, against a Redis and a Qdrant server; any number of them share the work.",
    ),
    ("jobs", "lithify.cli.serve:jobs", "Run the background jobs of one queue, against a Redis and a Qdrant server."),
    ("ingest", "lithify.cli.ingest:ingest", "Send a file of turns; running it again sends nothing twice."),
    ("search", "lithify.cli.query:search", "Find memories and show why they were found."),
    ("assemble", "lithify.cli.query:assemble", "Build the memory part of a prompt inside a token budget."),
    ("status", "lithify.cli.status:status", "Show health, counts and queues; exits 1 when the service is not ready."),
    (
        "doctor",
        "lithify.cli.doctor.command:doctor",
        "Check the installation and what it talks to; exits 1 when something needs attention.",
    ),
    (
        "rebuild",
        "lithify.cli.rebuild:rebuild",
        "Make a new collection from the archive, verify it, and put it in the place of the present one.",
    ),
    (
        "reembed",
        "lithify.cli.rebuild:reembed",
        "Embed all memories with the configured model into a new collection, "
        "and put it in the place of the present one.",
    ),
    ("backfill", "lithify.cli.background:backfill", "Start making missing vectors now; it happens every hour anyway."),
    (
        "compact",
        "lithify.cli.background:compact",
        "Summarise the old turns of a session; raw turns stay, and the newest stay as they are.",
    ),
    (
        "explain",
        "lithify.cli.explain:explain",
        "Show what was considered for an answer, why it won or lost, and which budget cut it.",
    ),
    (
        "forget",
        "lithify.cli.forget:forget",
        "Forget for good: raw turns and everything made from them, in the store, the streams and the archive.",
    ),
    (
        "export",
        "lithify.cli.transfer:export",
        "Print every record of the tenant as a line of JSON, in the order of their ids.",
    ),
    (
        "import",
        "lithify.cli.transfer:import_records",
        "Store the records of an export in the tenant of the key; running it again doubles nothing.",
    ),
    (
        "authored",
        "lithify.cli.authored:app",
        "Authored documents: rules and notes in Markdown, the same for all users.",
    ),
    ("docs", "lithify.cli.docs.commands:app", "Docs memory: documents of repositories, cut into citable pieces."),
    ("eval", "lithify.cli.eval:app", "Measure recall on conversations with known evidence."),
    ("queue", "lithify.cli.queue:app", "Background jobs: what waits, runs and failed, and trying a failed one again."),
    ("dlq", "lithify.cli.dlq:app", "Dead letters: messages that were given up, kept with their payload."),
    (
        "keys",
        "lithify.cli.keys:app",
        "API keys: who may send and read what. The first key closes the service to all who have none.",
    ),
    (
        "profile",
        "lithify.cli.profile:app",
        "Retrieval profiles: every constant of scoring, budgets, gate and compaction.",
    ),
    ("models", "lithify.cli.models:app", "Build, import and list embedding models."),
    ("calibrate", "lithify.cli.calibrate:app", "Measure constants that depend on the models in use."),
    ("bench", "lithify.cli.bench:app", "Measure parts of Lithify against the raw engine below them."),
)
for name, target, words in COMMANDS:
    defer(app, name, target, words)


def run() -> None:
    """Runs the command. Our own errors become one readable line; anything else is a bug and shows its traceback."""
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
