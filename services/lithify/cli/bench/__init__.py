"""`lithify bench`: our parts against their floor, always as a ratio measured in one run."""

import typer

from lithify.cli.deferred import defer

app = typer.Typer(help="Measure parts of Lithify against the raw engine below them.", no_args_is_help=True)
BENCHES = (
    ("embed", "Texts per second through our embedder and straight through onnxruntime, by the same model in one run."),
    ("store", "Upserts per second and search latency of Qdrant Edge, with and without writing and optimising beside."),
    ("streams", "Accept and consume against raw XADD and XREADGROUP/XACK, by the same client in the same run."),
    ("score", "Pass 2 with all components and its receipt rows, against one raw search of 24 hits."),
    (
        "ingest",
        "Turns per second from accepted to searchable, and the bare embedder on the same texts in the same run.",
    ),
    (
        "fairness",
        "Accept to searchable of a tenant that sends a turn a second, alone and beside one that sends all it can.",
    ),
    (
        "cascade",
        "How far the calibrated cascade agrees with full search, how often it ends early, and what time it saves.",
    ),
    ("assemble", "Latency of assembling 2,000 tokens for one of many users, alone and with 8 and 32 callers at once."),
)
for name, words in BENCHES:
    defer(app, name, f"lithify.cli.bench.{name}:{name}", words)
