"""The metrics as a Markdown page, so that the documentation cannot disagree with the code."""

from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client import Counter, Histogram, Info
from prometheus_client.metrics import MetricWrapperBase

from lithify.telemetry import metrics
from lithify.telemetry.metrics import LEVELS

HEAD = """# Metrics

Every process counts what it does and tells it in Prometheus's text format. This page is made from the code by
`make docs`.

## Where

- `/metrics` on the port of `lithify up` and of the services: open on loopback as long as there are no API keys, else to
  `admin` keys of the tenant `default`, which Prometheus sends by `authorization: {credentials_file: …}`.
- `/metrics`, `/livez` and `/readyz` on `LITHIFY_METRICS_PORT` of every process, workers and jobs included: open to
  whoever reaches the port. It answers nobody's data, and belongs into a network of its own.

The second one is off by default. The files in `deploy/` set it to 9464 and keep it inside the deployment. On both
ports `/livez` fails when a loop has not come around for five minutes, and `/readyz` while a dependency is away.

No metric is labelled by tenant, user or event: the number of series does not grow with use. Beside those below there
are the usual `process_*` metrics of memory, processor time and open files.

"""

COUNTED = """## Counted by each process

Add these up over all processes. A duration is that of one call, a batch of messages being one call.

| metric | type | labels | meaning |
|---|---|---|---|
"""

READ = """
## Read from Redis when asked

Told by `lithify up` and by the dashboard only, since every process would tell the same. Where several do, take the
maximum, not the sum. `stream` is `turns` or `stored`, all partitions together. Unread messages are counted one by one:
Redis's own figure turns null after deletions and hides a loss. If Redis does not answer in 5 s, `lithify_redis_up` is
0, the others of this table are missing, and the counted ones are told all the same.

| metric | type | labels | meaning |
|---|---|---|---|
"""

TAIL = """
## Boards and alerts

`deploy/observability` has a Prometheus configuration, alert rules with their tests, and a Grafana board; the profile
`observability` of `compose.yaml` runs all of it. Each alert links to its section in the [runbook](runbook.md).

## Traces and logs

A host that sends a W3C `traceparent`, as a header or in the turn itself, can follow that turn: the context travels in
the message through both streams into the jobs it causes, `host_trace_id` is in the turn's receipt, and log lines about
one event (`event_stored`, `delivery_failed`, `compaction_asked_for`, `job_done`, `job_failed`) name `event_id` or
`job_id` with `trace_id`. A turn's own context wins over the header; a broken one is ignored. Lines about a batch name
counts only. With `LITHIFY_LOG_FORMAT=json` each line is one JSON object. No line holds what was said.
"""


class MetricRow(NamedTuple):
    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


def metrics_page() -> str:
    counted = "".join(map(_line, list_counted()))
    read = "".join(_line(MetricRow(level.name, "gauge", level.labels, level.meaning)) for level in LEVELS)
    return HEAD + COUNTED + counted + READ + read + TAIL


def list_counted() -> Iterator[MetricRow]:
    """Yields all metrics of the module, in the order they are written there."""
    for metric in vars(metrics).values():
        if isinstance(metric, Counter | Histogram | Info):
            yield _row(metric)


def _row(metric: MetricWrapperBase) -> MetricRow:
    [family] = metric.describe()
    suffix = {"counter": "_total", "info": "_info"}.get(family.type, "")
    labels = ("version",) if family.type == "info" else tuple(metric._labelnames)  # noqa: SLF001 - told nowhere else
    return MetricRow(family.name + suffix, family.type, labels, family.documentation)


def _line(row: MetricRow) -> str:
    labels = ", ".join(f"`{label}`" for label in row.labels)
    return f"| `{row.name}` | {row.kind} | {labels} | {row.meaning} |\n"


if __name__ == "__main__":
    print(metrics_page(), end="")
