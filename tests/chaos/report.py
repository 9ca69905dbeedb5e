"""The outcome of a campaign as tables a person can check."""

from collections.abc import Iterable
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.chaos.campaign import DRAIN_S, Outcome
from tests.chaos.faults import Kind

SHOWN: Final = 3
# Also where there is no terminal, as in CI.
WIDTH: Final = 120


def print_report(outcome: Outcome) -> None:
    console = Console(width=WIDTH)
    for table in (fault_table(outcome), load_table(outcome), verdict_table(outcome)):
        console.print(table)


def fault_table(outcome: Outcome) -> Table:
    strikes = outcome.strikes
    rows = [
        (kind, str(strikes.times[kind]), str(strikes.in_flight[kind]) if kind in strikes.in_flight else "")
        for kind in Kind
    ]
    return table(("fault", "times", "messages in flight"), rows)


def load_table(outcome: Outcome) -> Table:
    ledger = outcome.ledger
    rows = {
        "turns accepted": len(ledger.accepted),
        "of them never to become memory (role tool)": sum(not f.becomes_memory for f in ledger.accepted.values()),
        "answers: accepted": ledger.statuses["accepted"],
        "answers: duplicate": ledger.statuses["duplicate"],
        "answers: conflict (forged content)": ledger.statuses["conflict"],
        **{f"errors to callers: {kind}": number for kind, number in sorted(ledger.errors.items())},
        "replies of Redis lost on the way": outcome.lost_replies,
        "messages taken over from paused workers": outcome.strikes.taken_over,
        "entries trimmed from the streams meanwhile": outcome.trimmed,
        "processes started again": outcome.restarts,
        "seconds of load": round(outcome.load_seconds),
        f"seconds to drain (at most {DRAIN_S:.0f})": round(outcome.drain_seconds, 1),
    }
    return table(("load", "count"), [(name, str(number)) for name, number in rows.items()])


def verdict_table(outcome: Outcome) -> Table:
    rows = [
        (finding.promise, str(len(finding.broken_by)), ", ".join(finding.broken_by[:SHOWN]))
        for finding in outcome.findings
    ]
    return table(("promise", "broken by", "for example"), rows)


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    made = Table()
    for number, head in enumerate(heads):
        made.add_column(head, justify="right" if number == 1 else "left")
    for row in rows:
        made.add_row(*row)
    return made
