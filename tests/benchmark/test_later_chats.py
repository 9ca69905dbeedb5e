"""Plain questions to chats that nothing was fitted on: search stays above both of its legs, and contexts tell it."""

from pathlib import Path

import pytest

from lithify.evaluation.datasets import load_dataset
from lithify.evaluation.report import Figures
from lithify.evaluation.run import evaluate
from lithify.evaluation.workplace import Workplace
from lithify.settings import load_settings

DATA = Path(__file__).parent / "later_chats"
# A few questions of eighty below what was measured when they were set (docs/evaluation.md).
FLOORS = {"1": 0.27, "5": 0.72, "10": 0.88}
SHOWN = 0.90  # of the answers in 1,000 tokens


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Figures:
    dataset = load_dataset("own", DATA)
    place = Workplace(tmp_path_factory.mktemp("later_chats"), dataset)
    return evaluate(dataset, place, load_settings(models_dir=models_dir), lambda *_: None)


@pytest.mark.parametrize("cut", FLOORS)
def test_search_stays_above_its_floor(figures: Figures, cut: str) -> None:
    assert figures["search"]["fraction"][cut] >= FLOORS[cut]


@pytest.mark.parametrize("leg", ["bm25", "dense"])
@pytest.mark.parametrize("cut", FLOORS)
def test_search_finds_more_than_either_leg(figures: Figures, leg: str, cut: str) -> None:
    assert figures["search"]["fraction"][cut] > figures["baselines"][leg]["fraction"][cut]


def test_a_small_context_tells_the_answer(figures: Figures) -> None:
    assert figures["assemble"]["1000"] >= SHOWN
