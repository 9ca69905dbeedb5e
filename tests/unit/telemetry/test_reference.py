"""The page about metrics is the code's."""

from pathlib import Path

from lithify.telemetry.metrics import LEVELS
from lithify.telemetry.reference import list_counted, metrics_page

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
# What operators build boards and alerts on; a name may not change unnoticed.
PROMISED = {
    "events_accepted_total",
    "stream_unread",
    "stream_pending",
    "stream_oldest_unread_age_seconds",
    "stream_oldest_pending_age_seconds",
    "stream_lost_total",
    "messages_total",
    "message_duration_seconds",
    "redeliveries_total",
    "dead_letters",
    "accept_to_searchable_seconds",
    "jobs",
    "job_duration_seconds",
    "assemble_duration_seconds",
    "assemble_tokens",
    "dead_letters_dropped_total",
    "unreadable_records_total",
    "traces_total",
    "build_info",
    "redis_up",
}
PERSONAL = {"tenant", "user", "session", "event_id", "key_id", "job_id", "worker", "name"}


def names_and_labels() -> dict[str, tuple[str, ...]]:
    counted = {row.name: row.labels for row in list_counted()}
    return counted | {level.name: level.labels for level in LEVELS}


def test_the_page_is_made_from_the_definitions() -> None:
    assert PAGE.read_text("utf-8") == metrics_page(), "run `make docs`"


def test_the_promised_metrics_are_there_and_no_others() -> None:
    assert set(names_and_labels()) == {f"lithify_{name}" for name in PROMISED}


def test_no_metric_is_labelled_by_somebody() -> None:
    assert not {label for labels in names_and_labels().values() for label in labels} & PERSONAL
