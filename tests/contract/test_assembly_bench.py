"""`lithify bench assemble` runs and measures what it names."""

from pathlib import Path

from lithify.cli.bench import assemble as bench_assemble
from lithify.settings import load_settings


async def test_the_bench_measures_answers_and_their_floor(models_dir: Path) -> None:
    report = await bench_assemble.measure(1_000, load_settings(models_dir=models_dir), rounds=3)
    callers = [f"answer, {number}" for number in ("1 caller", "8 callers", "32 callers")]
    assert [row.what for row in report.answers] == [*callers, "answer, nothing read before"]
    assert all(0 < row.p50_ms <= row.p95_ms for row in (*report.parts, *report.answers))
    assert report.ratio > 0
