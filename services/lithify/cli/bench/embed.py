"""`lithify bench embed`: our embedder against calling onnxruntime directly on the same batches."""

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Final

import typer
from rich.table import Table

from lithify.cli.bench.timing import measure_seconds
from lithify.cli.console import data, emit_json
from lithify.embedding import load_configured_embedder
from lithify.embedding.inference import EncoderModel, Feed, pad_rows, plan_batches
from lithify.embedding.onnx_embedder import OnnxEmbedder
from lithify.errors import Invalid
from lithify.settings import Settings, load_settings

# Rounds alternate between ours and the bare runtime. Speeds are of the best round, for noise only ever slows; the
# ratio is the median of the rounds' own, so that a busy machine hurts both sides alike.
ROUNDS: Final = 15
QUERIES: Final = 20
SEED: Final = 7
# Words per text as in chats: most are a sentence or two, one in fifty needs several windows.
LENGTHS: Final = (4, 8, 12, 16, 20, 24, 30, 40, 60, 90)
LONG: Final = 400
WORDS: Final = (
    "the a my our on in with before after because never usually train kitchen garden doctor meeting report "
    "Thursday October Lisbon Warsaw violin recipe invoice password deploy release branch budget holiday sister "
    "promised forgot moved called booked paid learned painted likes remembers wants 42 7:30 twelve blue cold quiet"
)


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """Texts per second of ours, everything included, and of the bare inference; `ratio` is what part of it we reach."""

    profile: str
    variant: str | None
    threads: int
    texts: int
    tokens: int
    ours: float
    raw: float
    ratio: float
    query_ms: float


def embed(
    profile: Annotated[str | None, typer.Option(help="Profile to measure (LITHIFY_EMBEDDING_PROFILE).")] = None,
    variant: Annotated[str | None, typer.Option(help="fp32 or int8 (LITHIFY_EMBEDDING_VARIANT).")] = None,
    texts: Annotated[int, typer.Option(help="Texts per round.", min=1)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurement as JSON.")] = False,
) -> None:
    """Texts per second through our embedder and straight through onnxruntime, by the same model in one run."""
    report = bench_embed(load_settings(embedding_profile=profile, embedding_variant=variant), texts)
    if as_json:
        emit_json(asdict(report))
        return
    table = Table("profile", "variant", "threads", "ours/s", "raw/s", "ratio", "query ms")
    speeds = (f"{report.ours:.1f}", f"{report.raw:.1f}", f"{report.ratio:.3f}", f"{report.query_ms:.1f}")
    table.add_row(report.profile, report.variant, str(report.threads), *speeds)
    data.print(table)


def bench_embed(settings: Settings, texts: int) -> EmbedReport:
    """Measures the configured profile. Raises Misconfigured if it is not built, Invalid for one that runs no model."""
    profile = settings.embedding_profile
    embedder = load_configured_embedder(settings)
    if not isinstance(embedder, OnnxEmbedder):
        raise Invalid(f"profile {profile} runs no model; there is nothing to compare with")
    sample = sample_texts(texts)
    model = EncoderModel(settings.models_dir / profile / embedder.manifest.model, embedder.manifest, settings.threads)
    feeds = direct_feeds(embedder, model, sample, settings.embed_batch_tokens)
    ours, raw = duel(lambda: embedder.embed_documents(sample), lambda: run_all(model, feeds))
    return EmbedReport(
        profile=profile,
        variant=embedder.manifest.variant,
        threads=settings.threads,
        texts=texts,
        tokens=sum(embedder.count_tokens(text) for text in sample),
        ours=texts / min(ours),
        raw=texts / min(raw),
        ratio=statistics.median(theirs / mine for mine, theirs in zip(ours, raw, strict=True)),
        query_ms=query_milliseconds(embedder, sample),
    )


def sample_texts(count: int) -> list[str]:
    """Makes the same texts in every run."""
    choose = random.Random(SEED)  # noqa: S311 - made to repeat, not to be secret
    lengths = [LONG if n % 50 == 49 else choose.choice(LENGTHS) for n in range(count)]
    words = WORDS.split()
    return [" ".join(choose.choices(words, k=length)) for length in lengths]


def direct_feeds(embedder: OnnxEmbedder, model: EncoderModel, texts: Sequence[str], budget: int) -> list[Feed]:
    """Makes what the runtime is given for these texts: the batches are ours, their making is not counted."""
    rows = [row for text in texts for row in embedder.windows(text)]
    batches = plan_batches([len(row) for row in rows], budget)
    return [model.feed(*pad_rows([rows[i] for i in batch])) for batch in batches]


def run_all(model: EncoderModel, feeds: Sequence[Feed]) -> None:
    for feed in feeds:
        model.session.run(None, feed)


def duel(ours: Callable[[], object], raw: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Returns the seconds of both in each round, measured right after one another; who begins changes."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        sides = [(times[0], ours), (times[1], raw)]
        for spent, call in sides if number % 2 else reversed(sides):
            spent.append(measure_seconds(call))
    return times


def query_milliseconds(embedder: OnnxEmbedder, texts: Sequence[str]) -> float:
    """Returns the median over short questions."""
    questions = [" ".join(text.split()[:8]) for text in texts[:QUERIES]]
    return 1000 * statistics.median(measure_seconds(partial(embedder.embed_query, question)) for question in questions)
