"""Puts the receipt of an assemble into words; shared by the command line and the dashboard."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

WHY: Final = {
    "injected": "in the prompt",
    "shown": "already in the recent tail",
    "weak": "too weak a match",
    "copy": "a copy of a better one",
    "outranked": "others ranked higher",
    "cut_retrieval": "no room left for recall",
    "cut_guidance": "no room left for guidance",
    "summarised": "a summary stands for it",
    "covered": "a summary of turns that were found themselves",
    "cut_degraded": "no room: rules and newest turns alone overrun the budget",
}
SPENDERS: Final = {
    "hard_rules": "hard rules",
    "soft_rules": "soft rules",
    "tail": "recent tail",
    "guidance": "guidance",
    "recalled": "recalled",
}


@dataclass(frozen=True, slots=True)
class Spending:
    """The tokens that one part of the prompt got; `limit` is in words, for not every limit is a number."""

    name: str
    words: str
    items: int
    tokens: int
    limit: str


def spendings(receipt: Mapping[str, Any]) -> list[Spending]:
    """Returns who got how many tokens of which limit, in the order of the budget."""
    budgets = receipt["budgets"]
    limits = {
        "hard_rules": "never cut",
        "soft_rules": f"{budgets['soft_limit']:g}",
        "tail": f"{budgets['tail_limit']:g}",
        "guidance": f"{budgets['guidance_share']:g}",
        "recalled": f"{budgets['retrieval']:g}",
    }
    spent = [
        Spending(name, words, len(receipt[name]), sum(item["cost"] for item in receipt[name]), limits[name])
        for name, words in SPENDERS.items()
    ]
    documents = receipt.get("documents")
    if not documents or not documents["limit"]:
        return spent
    return [
        *spent,
        Spending("documents", "documents", len(documents["hits"]), documents["tokens"], str(documents["limit"])),
    ]


def reason_of(row: Mapping[str, Any]) -> str:
    """Says why a candidate won or lost."""
    verdict = str(row["verdict"])
    return WHY.get(verdict, verdict) + (" (linked)" if row.get("parents") else "")


def temporal_line(temporal: Mapping[str, Any]) -> str:
    """Says whether the question was treated as one about time, and why."""
    guard = temporal["guard"]
    if not guard["applies"]:
        return f"not treated as a question about time ({guard['reason']})"
    events = ", ".join(f'"{slot}"' for slot in temporal["slots"])
    return f"a question about time ({guard['reason']}): {len(temporal['picks'])} picks cover {events}"
