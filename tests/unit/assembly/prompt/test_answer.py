"""Token counters and shares of sources: small decisions, each with its rule."""

from pathlib import Path

import pytest

from lithify.assembly.prompt.selection import spread_sources
from lithify.assembly.prompt.token_counter import ESTIMATOR, load_counter
from lithify.errors import Misconfigured
from lithify.memory.ranking.hops import Projected
from tests.unit.assembly.prompt.context_parts import candidate


def test_without_a_tokenizer_the_estimator_counts() -> None:
    assert load_counter(None) is ESTIMATOR


def test_a_tokenizer_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="absent"):
        load_counter(tmp_path / "absent.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(Misconfigured, match="cannot be read"):
        load_counter(broken)


def test_the_default_models_tokenizer_can_count(models_dir: Path) -> None:
    counter = load_counter(models_dir / "all-minilm-l6-v2" / "tokenizer.json")
    assert (counter.exact, counter.count("the harbour concert")) == (True, 3)


def test_a_source_may_use_places_the_others_leave_free() -> None:
    ranked = [Projected(candidate(key), 1.0, 1.0) for key in ("a1", "a2", "a3", "b1", "a4")]
    sources = {item.candidate.id: item.candidate.id[0] for item in ranked}
    assert [item.candidate.id for item in spread_sources(ranked, sources, 4, 0.5)] == ["a1", "a2", "a3", "b1"]
    assert [item.candidate.id for item in spread_sources(ranked, sources, 2, 0.5)] == ["a1", "b1"]
    assert [item.candidate.id for item in spread_sources(ranked, {}, 2, 0.5)] == ["a1", "a2"]
