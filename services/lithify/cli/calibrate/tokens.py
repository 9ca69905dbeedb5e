"""`lithify calibrate tokens`: the token estimator of the prompt budget against a real tokenizer."""

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from tokenizers import Tokenizer

from lithify.cli.calibrate.corpus import Corpus, fingerprint, read_corpus, shipped_corpus
from lithify.cli.console import data, emit_json, talk
from lithify.errors import Invalid, Misconfigured
from lithify.memory.tokens import ScriptCalibration, TokenSample, calibrate_tokens
from lithify.settings import load_settings

CAPTION = (
    "est/real: estimated over real tokens. under: texts estimated too low. "
    "worst: largest share of a text's tokens missed. unk: tokens the tokenizer does not know."
)


@dataclass(frozen=True, slots=True)
class LoadedTokenizer:
    encoder: Tokenizer
    sha256: str

    def sample(self, script: str, text: str) -> TokenSample:
        tokens = self.encoder.encode(text, add_special_tokens=False).tokens
        unknown = getattr(self.encoder.model, "unk_token", None)
        return TokenSample(script, text, len(tokens), tokens.count(unknown) if unknown else 0)


def tokens(
    corpus: Annotated[
        Path | None, typer.Option(exists=True, help="Texts to count: a .txt file or a folder of them, one per script.")
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(help="A tokenizer.json; default is the one of the built embedding model.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurement as JSON.")] = False,
) -> None:
    """Compare the token estimator of the prompt budget with a real tokenizer, script by script."""
    texts = read_corpus(corpus) if corpus else shipped_corpus()
    loaded = load_tokenizer(tokenizer or built_tokenizer())
    rows = measure(texts, loaded)
    if as_json:
        emit_json({"tokenizer_sha256": loaded.sha256, "corpus_sha256": fingerprint(texts), "scripts": row_fields(rows)})
    else:
        talk.print(f"tokenizer sha256 {loaded.sha256}\ncorpus sha256 {fingerprint(texts)}", soft_wrap=True)
        data.print(calibration_table(rows))


def built_tokenizer() -> Path:
    settings = load_settings()
    path = settings.models_dir / settings.embedding_profile / "tokenizer.json"
    if not path.is_file():
        raise Misconfigured(f"no tokenizer at {path}; run `lithify models build` first or name one with --tokenizer")
    return path


def load_tokenizer(path: Path) -> LoadedTokenizer:
    try:
        content = path.read_bytes()
        encoder = Tokenizer.from_buffer(content)
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} is not a readable tokenizer.json: {error}") from error
    # Sentence encoders cut and pad their input in the file's settings; both would falsify the count.
    encoder.no_truncation()
    encoder.no_padding()
    return LoadedTokenizer(encoder, sha256(content).hexdigest())


def measure(texts: Corpus, tokenizer: LoadedTokenizer) -> tuple[ScriptCalibration, ...]:
    try:
        return calibrate_tokens(tokenizer.sample(script, text) for script, group in texts.items() for text in group)
    except ValueError as error:
        raise Invalid(f"the corpus cannot be measured: {error}") from error


def row_fields(rows: tuple[ScriptCalibration, ...]) -> list[dict[str, object]]:
    return [asdict(row) | {"estimate_ratio": row.estimate_ratio} for row in rows]


def calibration_table(rows: tuple[ScriptCalibration, ...]) -> Table:
    grid = Table(title="Characters per token (χ): used by the estimator and measured", caption=CAPTION)
    grid.add_column("script", no_wrap=True)
    for heading in ("n", "χ used", "χ mean", "χ p5", "est/real", "under", "worst", "unk"):
        grid.add_column(heading, justify="right")
    for row in rows:
        grid.add_row(row.script, *_cells(row))
    return grid


def _cells(row: ScriptCalibration) -> tuple[str, ...]:
    ratios = (row.chi_used, row.chi_mean, row.chi_low, row.estimate_ratio)
    shares = (row.undercounted_share, row.worst_shortfall, row.unknown_share)
    return str(row.texts), *(f"{ratio:.2f}" for ratio in ratios), *(f"{share:.0%}" for share in shares)
