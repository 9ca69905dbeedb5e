"""`lithify bench assemble` runs and measures what it names."""

from pathlib import Path

from lithify.cli import bench_assemble
from lithify.settings import load_settings


async def test_the_bench_measures_answers_and_their_floor(models_dir: Path) -> None:
    report = await bench_assemble.measure(1_000, load_settings(models_dir=models_dir), rounds=3)
    assert [row.what for row in report.answers] == ["answer, 1 caller", "answer, 8 callers", "answer, 32 callers"]
    assert all(0 < row.p50_ms <= row.p95_ms for row in (*report.parts, *report.answers))
    assert report.ratio > 0
