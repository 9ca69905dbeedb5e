"""Which variants are measured, and how their table reads."""

from dataclasses import replace
from pathlib import Path

import pytest

from lithify.evaluation.ablation import Ablation, AblationPlan, VariantScores, score_row
from lithify.evaluation.ablation_page import ablation_page
from lithify.evaluation.ablation_variants import FULL_PRECISION, MemoryChange, drop_signal, make_variants
from lithify.evaluation.answers import RankedTurns, RecordedAnswer
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.metrics import mean_scores
from lithify.evaluation.selector import SelectorGain, Shares
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.settings import Settings
from tests.unit.evaluation.made_files import prepared

BASE = RECALL.normalise()
MINILM = Settings(embedding_profile="all-minilm-l6-v2", embedding_variant="int8")
SIGNALS = [name for name, *weights in zip(BASE.relevance._fields, *BASE.weights, strict=True) if max(weights) > 0]


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
    apart = MemoryChange("gate off", {"embedding_variant": "fp32"}, folder="apart")
    plan = AblationPlan(dataset, MINILM, tmp_path, (FULL_PRECISION, apart))
    assert [place.folder for place in plan.workplaces] == [
        tmp_path / dataset.sha256[:12] / "all-minilm-l6-v2-int8",
        tmp_path / dataset.sha256[:12] / "all-minilm-l6-v2-fp32",
        tmp_path / "apart" / dataset.sha256[:12] / "all-minilm-l6-v2-fp32",
    ]


def test_a_change_that_is_in_use_needs_no_second_memory(dataset: Dataset, tmp_path: Path) -> None:
    assert len(AblationPlan(dataset, MINILM, tmp_path).workplaces) == 1
    precise = MINILM.model_copy(update={"embedding_variant": "fp32"})
    assert len(AblationPlan(dataset, precise, tmp_path, (FULL_PRECISION,)).workplaces) == 1


def test_a_change_that_leaves_the_profile_as_it_is_has_no_row() -> None:
    names = [variant.name for variant in make_variants(SEED)]
    assert names.count(f"profile {SEED.name}") == 1


def test_questions_with_evidence_sessions_only_do_not_count_for_turns(dataset: Dataset) -> None:
    silent = replace(dataset.questions[0], evidence=frozenset())
    mixed = replace(dataset, questions=(silent, dataset.questions[1]))
    found = RecordedAnswer(question="", rankings={"x": RankedTurns(turns=("c1:D2:1", "c1:D1:1"), ms=0.0)}, packed={})
    row = score_row("x", mixed.questions, {dataset.questions[1].id: found})
    assert row.scores["all"]["5"] == 1.0


def make_rows(**found: bool) -> tuple[VariantScores, ...]:
    return tuple(
        VariantScores(name, mean_scores([(["a"] if is_found else ["b"], frozenset("a"))]))
        for name, is_found in found.items()
    )


def test_the_page_shows_each_variant_of_each_set_and_its_difference_to_the_first(dataset: Dataset) -> None:
    other = replace(dataset, name="beam")
    ablations = [
        Ablation(dataset, "minilm int8", make_rows(recall=True, plain=False, tiers=True), ()),
        Ablation(other, "minilm int8", make_rows(recall=False, plain=True), ()),
    ]
    page = ablation_page("lithify eval ablate --data x", "d" * 64, ablations)
    assert "| variant | locomo R@1/5/10 | locomo Δ@10 | beam R@1/5/10 | beam Δ@10 |" in page
    assert "| recall | 1.000/1.000/1.000 | +0.000 | .000/.000/.000 | +0.000 |" in page
    assert "| plain | .000/.000/.000 | -1.000 | 1.000/1.000/1.000 | +1.000 |" in page
    assert "| tiers | 1.000/1.000/1.000 | +0.000 |  |  |" in page
    assert dataset.sha256 in page
    assert "`lithify eval ablate --data x`" in page
    assert "selector" not in page


def test_each_model_has_a_table_that_compares_it_with_the_others(dataset: Dataset) -> None:
    ablations = [
        Ablation(dataset, "minilm int8", make_rows(recall=True), ()),
        Ablation(dataset, "arctic int8", make_rows(recall=False), ()),
    ]
    page = ablation_page("lithify", "d" * 64, ablations)
    assert "| model arctic int8 instead | .000/.000/.000 | -1.000 |" in page
    assert "| model minilm int8 instead | 1.000/1.000/1.000 | +1.000 |" in page


def test_the_page_shows_contexts_without_and_with_the_selector(dataset: Dataset) -> None:
    chosen = SelectorGain("pairs", 2, 5, 100, Shares.of([0.5, 0.5]), Shares.of([0.5, 1.0]))
    page = ablation_page("lithify", "d" * 64, [Ablation(dataset, "minilm int8", make_rows(recall=True), (chosen,))])
    assert "| locomo | pairs | 2 of 5 | 100 | .500 → .750 | .000 → .500 |" in page
