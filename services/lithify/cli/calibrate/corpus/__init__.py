"""Short texts in several scripts for `lithify calibrate`: one file per script, blank lines between texts."""

from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from lithify.errors import Invalid

SUFFIX = ".txt"

Corpus = dict[str, list[str]]  # script -> texts


def shipped_corpus() -> Corpus:
    return _read_all(list(files(__name__).iterdir()))


def read_corpus(path: Path) -> Corpus:
    """Reads a folder of `<script>.txt` files, or one such file. Raises Invalid if there is no text in it."""
    corpus = _read_all(list(path.iterdir()) if path.is_dir() else [path])
    if not corpus:
        raise Invalid(f"no texts in {path}; expected <script>{SUFFIX} files with blank lines between texts")
    return corpus


def fingerprint(corpus: Corpus) -> str:
    digest = sha256()
    for script, texts in corpus.items():
        digest.update("\0".join([script, *texts, ""]).encode())
    return digest.hexdigest()


def _read_all(sources: list[Traversable] | list[Path]) -> Corpus:
    texts = {
        source.name.removesuffix(SUFFIX): _read_texts(source) for source in sources if source.name.endswith(SUFFIX)
    }
    return {script: texts[script] for script in sorted(texts) if texts[script]}


def _read_texts(source: Traversable | Path) -> list[str]:
    try:
        content = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read {source}: {error}") from error
    return [block.strip("\n") for block in content.split("\n\n") if block.strip()]
