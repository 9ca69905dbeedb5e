"""The stream benchmark runs and compares like with like; its figures are for people, not for tests."""

import pytest

from lithify.cli.bench import streams as bench_streams


async def test_the_benchmark_compares_accepting_and_consuming_with_the_bare_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_streams, "ROUNDS", 1)
    results = await bench_streams.compare(512)
    assert [result.what for result in results] == ["accept, single", "accept, batches of 64", "consume, batches of 64"]
    assert all(result.ours > 0 and result.raw > 0 and result.ratio > 0 for result in results)
