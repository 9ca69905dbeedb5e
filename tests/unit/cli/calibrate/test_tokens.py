"""`lithify calibrate tokens` on a tokenizer small enough to count by hand."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import Whitespace
from typer.testing import CliRunner

from lithify.cli.calibrate import app
from lithify.cli.calibrate.corpus import fingerprint, read_corpus, shipped_corpus
from lithify.errors import Invalid, Misconfigured

DOCUMENT = Path(__file__).parents[4] / "docs" / "token-calibration.md"
SCRIPTS = {
    *("english", "code", "german", "russian", "arabic", "hebrew"),
    *("chinese", "japanese", "korean", "hindi", "thai", "emoji"),
}

run = CliRunner().invoke


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """Knows two words, swallows tildes, and cuts and pads its input as sentence encoders do."""
    encoder = Tokenizer(WordLevel({"[UNK]": 0, "[PAD]": 1, "green": 2, "boats": 3}, unk_token="[UNK]"))  # noqa: S106
    encoder.normalizer = Replace("~", "")
    encoder.pre_tokenizer = Whitespace()
    encoder.enable_truncation(2)
    encoder.enable_padding(length=64, pad_id=1)
    path = tmp_path / "tokenizer.json"
    encoder.save(str(path))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "english.txt").write_text("green boats\n\n\nfive more green boats\nat sea\n", encoding="utf-8")
    (folder / "notes.md").write_text("not a text", encoding="utf-8")
    return folder


def test_the_whole_text_is_counted_without_padding(tokenizer: Path, corpus: Path) -> None:
    result = run(app, ["tokens", "--tokenizer", str(tokenizer), "--corpus", str(corpus), "--json"])
    (row,) = json.loads(result.stdout)["scripts"]
    assert (row["script"], row["texts"], row["tokens"]) == ("english", 2, 2 + 6)
    assert row["unknown_share"] == pytest.approx(4 / 8)
    assert row["estimated"] == 3 + 7


def test_the_measurement_names_its_tokenizer_and_text(tokenizer: Path, corpus: Path) -> None:
    result = run(app, ["tokens", "--tokenizer", str(tokenizer), "--corpus", str(corpus / "english.txt"), "--json"])
    measured = json.loads(result.stdout)
    assert measured["tokenizer_sha256"] == sha256(tokenizer.read_bytes()).hexdigest()
    assert measured["corpus_sha256"] == fingerprint(read_corpus(corpus))


def test_the_table_has_a_row_for_every_shipped_script(tokenizer: Path) -> None:
    result = run(app, ["tokens", "--tokenizer", str(tokenizer)])
    assert result.exit_code == 0
    assert {script for script in SCRIPTS if script in result.stdout} == SCRIPTS
    assert fingerprint(shipped_corpus()) in result.stderr


def test_the_shipped_corpus_has_at_least_eight_texts_a_script() -> None:
    corpus = shipped_corpus()
    assert set(corpus) == SCRIPTS
    assert min(len(set(texts)) for texts in corpus.values()) >= 8


def test_the_committed_tables_were_made_from_the_shipped_corpus() -> None:
    assert fingerprint(shipped_corpus()) in DOCUMENT.read_text(encoding="utf-8")


def test_the_tokenizer_of_the_built_model_is_the_default(
    tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITHIFY_MODELS_DIR", str(tmp_path))
    monkeypatch.setenv("LITHIFY_EMBEDDING_PROFILE", "tiny")
    missing = run(app, ["tokens"])
    assert isinstance(missing.exception, Misconfigured)
    assert "--tokenizer" in str(missing.exception)

    (tmp_path / "tiny").mkdir()
    tokenizer.rename(tmp_path / "tiny" / "tokenizer.json")
    assert run(app, ["tokens"]).exit_code == 0


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{}", encoding="utf-8")
    for path in (broken, tmp_path / "absent.json"):
        result = run(app, ["tokens", "--tokenizer", str(path)])
        assert isinstance(result.exception, Invalid)
        assert f"{path} is not a readable tokenizer.json" in str(result.exception)


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"\n\n", "no texts in"), (b"\xff\xfe", "cannot read"), (b"~", "measured")]
)
def test_a_corpus_that_cannot_be_measured_is_refused(
    tokenizer: Path, tmp_path: Path, content: bytes, complaint: str
) -> None:
    text = tmp_path / "blank.txt"
    text.write_bytes(content)
    result = run(app, ["tokens", "--tokenizer", str(tokenizer), "--corpus", str(text)])
    assert isinstance(result.exception, Invalid)
    assert complaint in str(result.exception)
