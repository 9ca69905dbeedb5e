"""`lithify eval ablate` on a real node's folder: every variant answers, and the page is written."""

from pathlib import Path

from tests.integration.node_process import lithify
from tests.unit.evaluation.made_files import prepared


def test_the_ablation_measures_every_variant_on_one_ingested_folder(tmp_path: Path, models_dir: Path) -> None:
    out, work = tmp_path / "ablation.md", tmp_path / "work"
    command = ("--data", str(prepared(tmp_path / "data")), "--out", str(out), "--work", str(work))
    done = lithify("eval", "ablate", *command, LITHIFY_MODELS_DIR=str(models_dir))
    assert done.returncode == 0, done.stderr
    page = out.read_text()
    for variant in (
        "profile recall",
        "without dense",
        "with MMR",
        "with decay",
        "RRF",
        "profile seed",
        "cascade",
        "fp32",
    ):
        assert variant in page
    # Four turns: whatever is left out, all of them are among the first ten.
    assert page.count("| 1.000 | 1.000 | 1.000 |") >= 5
