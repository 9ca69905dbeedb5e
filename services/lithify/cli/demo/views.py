"""What the demo shows, as tables and lines for a terminal of 80 columns; no I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from lithify.client import Receipt, Record
from lithify.client.explanation import Spending, reason_of, spendings
from lithify.memory.tokens import estimate_tokens

BAR: Final = 60
FREE: Final = "·"
# Told apart by their shape too: a terminal may have no colours.
FILLS: Final = {
    "hard_rules": ("█", "red"),
    "soft_rules": ("▓", "yellow"),
    "tail": ("▒", "cyan"),
    "guidance": ("▚", "magenta"),
    "recalled": ("░", "green"),
    "frames": ("▏", "white"),
}
KNOWN_BELOW: Final = 0.4
WORTHLESS_BELOW: Final = 0.5


@dataclass(frozen=True, slots=True)
class Gated:
    """A user turn and what the gate made of it."""

    text: str
    receipt: Receipt

    @property
    def signals(self) -> Mapping[str, Any]:
        return self.receipt.gate or {}

    def signal(self, name: str) -> float:
        return float(self.signals.get(f"gating_{name}", 0.0))

    @property
    def worth(self) -> float:
        """Says what the turn is worth, whichever of the two branches judged it."""
        return self.signal("a") if self.signal("t") > KNOWN_BELOW else self.signal("d")


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary and what it stands for."""

    summary: Record
    turns: int
    tokens_before: int

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.summary.text)


def plain_table(*columns: str) -> Table:
    table = Table(*columns, box=None, padding=(0, 1, 0, 0), expand=True, header_style="dim")
    for column in table.columns[:-1]:
        column.no_wrap = True
    table.columns[-1].ratio = 1
    return table


def promotion_table(gated: Iterable[Gated]) -> Table:
    table = plain_table("score", "new", "said", "worth", "text")
    for turn in gated:
        numbers = (turn.signal("score"), turn.signal("h"), turn.signal("r"), turn.worth)
        table.add_row(*(f"{number:.2f}" for number in numbers), escape(turn.text))
    return table


def refusal_table(gated: Iterable[Gated]) -> Table:
    table = plain_table("score", "why", "text")
    for turn in gated:
        score = f"{turn.signal('score'):.2f}" if turn.signals else "–"
        table.add_row(score, why_refused(turn), escape(turn.text))
    return table


def why_refused(turn: Gated) -> str:
    """Names the signal that cost it the promotion; the numbers are in its receipt."""
    if turn.receipt.ignored or turn.receipt.error:
        return "a sign of life" if turn.receipt.ignored else "the gate failed"
    if turn.signal("h") < KNOWN_BELOW:
        return "known already"
    return "worth too little" if turn.worth < WORTHLESS_BELOW else "just below"


def summary_table(compacted: Iterable[Compacted]) -> Table:
    table = plain_table("turns", "tokens", "confidence", "summary")
    for one in compacted:
        confidence = f"{one.summary.confidence or 0.0:.2f}"
        table.add_row(str(one.turns), f"{one.tokens_before} → {one.tokens}", confidence, escape(one.summary.text))
    return table


def all_spendings(receipt: Mapping[str, Any]) -> list[Spending]:
    """Adds the tokens of the tags and headings around the entries."""
    spent = spendings(receipt)
    frames = max(0, int(receipt["tokens"]) - sum(one.tokens for one in spent))
    return [*spent, Spending("frames", "tags, headings", 0, frames, "")]


def bar_parts(receipt: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Counts the characters of the bar by spender; whoever spent anything is seen."""
    budget = max(1, int(receipt["token_budget"]))
    return [(one.name, max(1, round(BAR * one.tokens / budget))) for one in all_spendings(receipt) if one.tokens]


def budget_bar(receipt: Mapping[str, Any]) -> Text:
    bar = Text("[")
    used = 0
    for name, width in bar_parts(receipt):
        fill, colour = FILLS[name]
        drawn = min(width, BAR - used)
        bar.append(fill * drawn, colour)
        used += drawn
    bar.append(FREE * (BAR - used), "dim")
    return bar.append(f"] {receipt['tokens']} of {receipt['token_budget']} tokens")


def budget_legend(receipt: Mapping[str, Any]) -> Table:
    table = plain_table("", "block", "items", "tokens", "limit")
    for spent in all_spendings(receipt):
        table.add_row(*legend_row(spent))
    return table


def legend_row(spent: Spending) -> tuple[Text, str, str, str, str]:
    fill, colour = FILLS[spent.name]
    items = str(spent.items) if spent.limit else ""
    return Text(fill * 2, colour), spent.words, items, str(spent.tokens), spent.limit


def receipt_table(considered: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> Table:
    """Shows the candidates of a receipt, which holds no texts; `texts` has them by record id."""
    table = plain_table("", "helps", "score", "why", "text")
    table.columns[-1].no_wrap = True
    table.columns[-1].overflow = "ellipsis"
    for row in considered:
        numbers = (row.get(name) for name in ("helpful", "sigma"))
        shown = ("" if number is None else f"{number:.2f}" for number in numbers)
        table.add_row(
            "+" if row["injected"] else "-", *shown, reason_of(row), escape(" ".join(texts.get(row["id"], "").split()))
        )
    return table
