"""Which variants are measured, and how their table reads."""

from dataclasses import replace
from pathlib import Path

import pytest

from lithify.evaluation.ablation import Row, by_place, judged_row
from lithify.evaluation.ablation_page import ablation_page
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.metrics import mean_scores
from lithify.evaluation.variants import node_variants, scoring_variants, without
from lithify.memory.ranking.fusion import fuse_ranks
from lithify.memory.ranking.profile import RECALL, SEED
from tests.unit.evaluation.made_files import prepared

BASE = RECALL.normalised()
SIGNALS = [name for name, weight in BASE.relevance._asdict().items() if weight > 0]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("locomo", prepared(tmp_path / "data"))


def test_every_signal_in_use_is_left_out_once_and_no_other() -> None:
    names = [variant.name for variant in scoring_variants(BASE)]
    assert names[1 : len(SIGNALS) + 1] == [f"without {signal}" for signal in SIGNALS]
    of_seed = [variant.name for variant in scoring_variants(SEED)]
    assert [name for name in SIGNALS if f"without {name}" in of_seed] == ["dense"]


@pytest.mark.parametrize("signal", SIGNALS)
def test_leaving_a_signal_out_keeps_the_proportions_of_the_others(signal: str) -> None:
    left = without(BASE, signal).relevance._asdict()
    share = 1.0 - BASE.relevance._asdict()[signal]
    assert left.pop(signal) == 0.0
    assert left == pytest.approx({name: getattr(BASE.relevance, name) / share for name in left})


def test_each_scoring_variant_differs_from_the_profile() -> None:
    base, *others = scoring_variants(BASE)
    assert base.profile == BASE
    assert all(other.fused or other.profile != BASE for other in others)
    assert len({other.name for other in others}) == len(others)


def test_other_weights_of_the_model_get_a_folder_of_their_own() -> None:
    folders = {"EMBEDDING" in name: v.folder for v in node_variants() for name in v.settings}
    assert folders == {False: None, True: "fp32"}


def test_fusion_by_rank_sees_the_order_of_the_lists() -> None:
    rows = fuse_ranks(by_place(["a", "b"]), by_place(["a", "c"]))
    assert [(row.key, row.lexical_rank, row.vector_rank) for row in rows] == [
        ("a", 1, 1),
        ("b", 2, None),
        ("c", None, 2),
    ]


def test_questions_with_evidence_sessions_only_do_not_count_for_turns(dataset: Dataset) -> None:
    silent = replace(dataset.questions[0], evidence=frozenset())
    mixed = replace(dataset, questions=(silent, dataset.questions[1]))
    row = judged_row("x", mixed, [(), ("c1:D2:1", "c1:D1:1")])
    assert row.scores["all"]["5"] == 1.0


def test_the_page_shows_each_variant_and_its_difference_to_the_first(dataset: Dataset) -> None:
    found, missed = mean_scores([(["a"], frozenset("a"))]), mean_scores([(["b"], frozenset("a"))])
    page = ablation_page(dataset, [Row("profile recall", found), Row("without dense", missed)], "d" * 64, "minilm")
    assert "| profile recall | 1.000 | 1.000 | 1.000 | 1.000 | +0.000 |" in page
    assert "| without dense | .000 | .000 | .000 | .000 | -1.000 |" in page
    assert dataset.sha256 in page
    assert "lithify eval ablate --dataset locomo" in page
