"""`lithify calibrate`: measures constants that depend on the models in use."""

import typer

from lithify.cli.deferred import defer

app = typer.Typer(help="Measure constants that depend on the models in use.", no_args_is_help=True)
CALIBRATIONS = (
    ("tokens", "Compare the token estimator of the prompt budget with a real tokenizer, script by script."),
    (
        "gate",
        "Show how gating scores spread and, with labels, what they are worth; without a file, on the shipped turns.",
    ),
    ("tiers", "Derive from data how similar the best hit of a short prefix must be for the search to end there."),
)
for name, words in CALIBRATIONS:
    defer(app, name, f"lithify.cli.calibrate.{name}:{name}", words)
