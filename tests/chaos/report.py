"""The outcome of campaigns as tables a person can check."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.chaos.campaign import Outcome
from tests.chaos.faults import Kind
from tests.chaos.forgetting import TargetKind
from tests.chaos.verdict_words import Breach

SHOWN: Final = 3
# Also where there is no terminal, as in CI.
WIDTH: Final = 120


def print_report(outcome: Outcome) -> None:
    console = Console(width=WIDTH)
    for made in (fault_table(outcome), load_table(outcome), verdict_table(outcome), sum_table([outcome])):
        console.print(made)


def print_sum(outcomes: Sequence[Outcome]) -> None:
    Console(width=WIDTH).print(sum_table(outcomes))


def fault_table(outcome: Outcome) -> Table:
    strikes = outcome.strikes
    rows = [
        (kind, str(strikes.times[kind]), str(strikes.in_flight[kind]) if kind in strikes.in_flight else "")
        for kind in Kind
    ]
    return table(("fault", "times", "messages or jobs in flight"), rows)


def load_table(outcome: Outcome) -> Table:
    ledger = outcome.ledger
    asked = [forgetting.target.kind for forgetting in ledger.forgettings]
    rows = {
        "events accepted": len(ledger.acceptances),
        "of them never to become memory (role tool)": sum(not one.facts.becomes_memory for one in ledger.acceptances),
        "answers: accepted": ledger.statuses["accepted"],
        "answers: duplicate": ledger.statuses["duplicate"],
        "answers: conflict (forged content)": ledger.statuses["conflict"],
        **{f"forgettings of a {kind.name.lower()}": asked.count(kind) for kind in TargetKind},
        "events sent again after they were forgotten": len(ledger.resent),
        "questions asked": ledger.questions,
        "summaries": outcome.kinds["summary"],
        "turns put away behind them": outcome.kinds["put away"],
        "durable memories and guidance": outcome.kinds["memory"] + outcome.kinds["guidance"],
        **{f"errors to callers: {kind}": number for kind, number in sorted(ledger.errors.items())},
        "replies of Redis lost on the way": outcome.lost_replies,
        "messages taken over from paused workers": outcome.strikes.taken_over,
        "entries trimmed from the streams meanwhile": outcome.trimmed,
        "processes started again": outcome.restarts,
        "seconds of load": round(outcome.load_seconds),
        f"seconds to drain (at most {outcome.drain_limit:.0f})": round(outcome.drain_seconds, 1),
    }
    return table(("load", "count"), [(name, str(number)) for name, number in rows.items()])


def verdict_table(outcome: Outcome) -> Table:
    rows = [
        (finding.promise, str(len(finding.broken_by)), ", ".join(finding.broken_by[:SHOWN]))
        for finding in outcome.findings
    ]
    return table(("promise", "broken by", "for example"), rows)


def sum_table(outcomes: Sequence[Outcome]) -> Table:
    """Makes a row for each seed, and one for all of them."""
    heads = ("seed", "events", "forgotten", "faults", *Breach)
    rows = [(str(outcome.load.seed), *figures(outcome)) for outcome in outcomes]
    total = [sum(numbers) for numbers in zip(*([*map(int, row[1:])] for row in rows), strict=True)]
    if len(rows) > 1:
        rows.append(("all", *map(str, total)))
    return table(heads, rows)


def figures(outcome: Outcome) -> tuple[str, ...]:
    counts = (
        len(outcome.ledger.acceptances),
        len(outcome.ledger.forgettings),
        outcome.strikes.times.total(),
        *map(outcome.count, Breach),
    )
    return tuple(map(str, counts))


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    made = Table()
    for number, head in enumerate(heads):
        made.add_column(head, justify="right" if number else "left")
    for row in rows:
        made.add_row(*row)
    return made
