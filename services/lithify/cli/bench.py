"""`lithify bench`: our parts against their floor, always as a ratio measured in one run."""

import typer

from lithify.cli.bench_assemble import assemble
from lithify.cli.bench_cascade import cascade
from lithify.cli.bench_embed import embed
from lithify.cli.bench_ingest import ingest
from lithify.cli.bench_score import score
from lithify.cli.bench_store import store
from lithify.cli.bench_streams import streams

app = typer.Typer(help="Measure parts of Lithify against the raw engine below them.", no_args_is_help=True)
app.command()(embed)
app.command()(store)
app.command()(streams)
app.command()(score)
app.command()(ingest)
app.command()(cascade)
app.command()(assemble)
