"""`lithify bench store` measures every situation it promises."""

import orjson
from typer.testing import CliRunner

from lithify.cli.bench import app


def test_the_bench_reports_upserts_and_searches_beside_everything() -> None:
    result = CliRunner().invoke(app, ["store", "--points", "256", "--json"])
    assert result.exit_code == 0, result.output
    report = orjson.loads(result.stdout)
    assert report["points"] == 256
    assert report["upserts_per_second"] > 0
    assert [row["during"] for row in report["searches"]] == [
        "nothing else",
        "writing",
        "optimising",
        "nothing else, once optimised",
    ]
    assert all(0 < row["p50_ms"] <= row["p95_ms"] for row in report["searches"])
