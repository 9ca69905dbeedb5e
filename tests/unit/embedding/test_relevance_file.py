"""Constants belong to a model: its own file counts first, then the shipped one, and no other model's ever does."""

from pathlib import Path

import pytest

from lithify.embedding import HashEmbedder
from lithify.embedding.manifest import assets_folder
from lithify.embedding.relevance_file import RELEVANCE_FILE, find_calibration, read_relevance
from lithify.errors import Misconfigured
from lithify.memory.ranking.helpfulness import WORDS_CALIBRATION


@pytest.mark.parametrize("model", ["all-minilm-l6-v2", "snowflake-arctic-embed-s"])
def test_shipped_models_have_their_constants_and_name_what_they_were_fitted_on(model: str) -> None:
    shipped = read_relevance(assets_folder() / model)
    assert shipped is not None
    assert shipped.family == model
    assert len({row.sha256 for row in shipped.data}) >= 3
    assert all(row.own >= 300 <= row.foreign for row in shipped.data)
    near, covered, crowd, _ = shipped.calibration().answerable
    assert near > 0.0 < covered
    assert crowd < 0.0


def test_vectors_without_meaning_are_judged_by_their_words(tmp_path: Path) -> None:
    assert find_calibration(HashEmbedder(32), tmp_path) is WORDS_CALIBRATION


def test_a_missing_file_is_no_error_and_a_damaged_one_is(tmp_path: Path) -> None:
    assert read_relevance(tmp_path) is None
    (tmp_path / RELEVANCE_FILE).write_text('{"family": "x"}')
    with pytest.raises(Misconfigured, match="lithify eval fit"):
        read_relevance(tmp_path)
