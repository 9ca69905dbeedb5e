"""Which variants are measured, and how their table reads."""

from dataclasses import replace
from pathlib import Path

import pytest

from lithify.evaluation.ablation import Ablation, AblationPlan, VariantScores, drop_signal, make_variants, score_row
from lithify.evaluation.ablation_page import ablation_page
from lithify.evaluation.answers import RankedTurns, RecordedAnswer
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.metrics import mean_scores
from lithify.evaluation.selector import SelectorGain, Shares
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.settings import Settings
from tests.unit.evaluation.made_files import prepared

BASE = RECALL.normalise()
SIGNALS = [name for name, weight in BASE.relevance._asdict().items() if weight > 0]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("locomo", prepared(tmp_path / "data"))


def test_every_signal_in_use_is_left_out_once_and_no_other() -> None:
    names = [variant.name for variant in make_variants(BASE)]
    assert names[1 : len(SIGNALS) + 1] == [f"without {signal}" for signal in SIGNALS]
    of_seed = [variant.name for variant in make_variants(SEED)]
    assert [name for name in SIGNALS if f"without {name}" in of_seed] == ["dense"]


@pytest.mark.parametrize("signal", SIGNALS)
def test_leaving_a_signal_out_keeps_the_proportions_of_the_others(signal: str) -> None:
    left = drop_signal(BASE, signal).relevance._asdict()
    share = 1.0 - BASE.relevance._asdict()[signal]
    assert left.pop(signal) == 0.0
    assert left == pytest.approx({name: getattr(BASE.relevance, name) / share for name in left})


def test_each_variant_differs_from_the_profile() -> None:
    base, *others = make_variants(BASE)
    assert base.profile == BASE
    assert all(other.fused or other.tiered or other.profile != BASE for other in others)
    assert len({other.name for other in others}) == len(others)


def test_every_model_and_precision_has_a_folder_of_its_own(dataset: Dataset, tmp_path: Path) -> None:
    plan = AblationPlan(dataset, Settings(), tmp_path, precise=True)
    assert [plan.workplace(settings).folder for settings in plan.memories] == [
        tmp_path / dataset.sha256[:12] / "all-minilm-l6-v2-int8",
        tmp_path / dataset.sha256[:12] / "all-minilm-l6-v2-fp32",
    ]


def test_full_precision_needs_no_second_memory_where_it_is_in_use(dataset: Dataset, tmp_path: Path) -> None:
    assert len(AblationPlan(dataset, Settings(), tmp_path).memories) == 1
    assert len(AblationPlan(dataset, Settings(embedding_variant="fp32"), tmp_path, precise=True).memories) == 1


def test_questions_with_evidence_sessions_only_do_not_count_for_turns(dataset: Dataset) -> None:
    silent = replace(dataset.questions[0], evidence=frozenset())
    mixed = replace(dataset, questions=(silent, dataset.questions[1]))
    found = RecordedAnswer(question="", rankings={"x": RankedTurns(turns=("c1:D2:1", "c1:D1:1"), ms=0.0)}, packed={})
    row = score_row("x", mixed.questions, {dataset.questions[1].id: found})
    assert row.scores["all"]["5"] == 1.0


def test_the_page_shows_each_variant_and_its_difference_to_the_first(dataset: Dataset) -> None:
    found, missed = mean_scores([(["a"], frozenset("a"))]), mean_scores([(["b"], frozenset("a"))])
    rows = (VariantScores("profile recall", found), VariantScores("without dense", missed))
    page = ablation_page("lithify eval ablate --data x", "d" * 64, [Ablation(dataset, "minilm int8", rows, ())])
    assert "| profile recall | 1.000 | 1.000 | 1.000 | 1.000 | +0.000 |" in page
    assert "| without dense | .000 | .000 | .000 | .000 | -1.000 |" in page
    assert dataset.sha256 in page
    assert "`lithify eval ablate --data x`" in page
    assert "selector" not in page


def test_the_page_shows_contexts_without_and_with_the_selector(dataset: Dataset) -> None:
    rows = (VariantScores("profile recall", mean_scores([(["a"], frozenset("a"))])),)
    chosen = SelectorGain("pairs", 2, 5, 100, Shares.of([0.5, 0.5]), Shares.of([0.5, 1.0]))
    page = ablation_page("lithify", "d" * 64, [Ablation(dataset, "minilm int8", rows, (chosen,))])
    assert "| pairs | 2 of 5 | 100 | .500 → .750 | .000 → .500 |" in page
