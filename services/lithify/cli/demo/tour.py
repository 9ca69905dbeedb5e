"""`lithify demo`: a tour of about a minute, on a node of its own that is gone afterwards."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from lithify.cli.background import ENDED, check_finished
from lithify.cli.demo.conversation import (
    ASKED_IN,
    BUDGET,
    COMPACTED,
    LATER,
    MORE_QUESTIONS,
    QUESTION,
    USER,
    read_rules,
    shipped_turns,
)
from lithify.cli.demo.views import (
    Compacted,
    Gated,
    budget_bar,
    budget_legend,
    promotion_table,
    receipt_table,
    refusal_table,
    summary_table,
)
from lithify.client import Memory, Turn
from lithify.client.call import Call, path
from lithify.client.explanation import temporal_line
from lithify.errors import Unavailable
from lithify.memory.tokens import estimate_tokens
from lithify.node.child import child_node, refuse_foreign_parts, stopped_by_sigterm
from lithify.settings import Settings, load_settings

PATIENCE_S: Final = 120.0
POLL_S: Final = 0.1
SHOWN_REFUSALS: Final = 6
SHOWN_CANDIDATES: Final = 10
SHOWN_LINES: Final = 3
DEADLINE_MS: Final = 20_000
WIDEST: Final = 100

Object = dict[str, Any]


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the node's data, to look into it afterwards.")] = False,
) -> None:
    """Show in about a minute what Lithify does: ingest, promote, compact, assemble and explain."""
    screen = Console(highlight=False)
    screen = screen if screen.width <= WIDEST else Console(highlight=False, width=WIDEST)
    settings = load_settings()
    refuse_foreign_parts(settings, "the demo")
    with stopped_by_sigterm(), open_folder(keep) as folder:
        tour(folder, settings, screen)
        if keep:
            screen.print(f"The data stays: lithify up --data-dir {folder}", markup=False, soft_wrap=True)


@contextmanager
def open_folder(keep: bool) -> Iterator[Path]:
    if keep:
        yield Path(tempfile.mkdtemp(prefix="lithify-demo-"))
        return
    with tempfile.TemporaryDirectory(prefix="lithify-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def tour(folder: Path, settings: Settings, screen: Console) -> None:
    heading(screen, 1, "A node of its own: Redis, vectors, model and workers in one process")
    own = {
        "LITHIFY_HOST": "127.0.0.1",
        "LITHIFY_MODELS_DIR": str(settings.models_dir),
        "LITHIFY_ASSEMBLE_DEADLINE_MS": str(DEADLINE_MS),
    }
    started = time.monotonic()
    with child_node(folder, own) as node, Memory(node.url, timeout_s=DEADLINE_MS / 1000) as memory:
        screen.print(f"Ready after {time.monotonic() - started:.1f} s on {node.url}, data in {folder}.", markup=False)
        turns = shipped_turns(datetime.now(UTC))
        show_ingest(memory, turns, screen)
        show_gate(memory, turns, screen)
        show_compaction(memory, turns, screen)
        show_prompt(memory, screen)
        show_more(memory, screen)
    show_next(screen)


def heading(screen: Console, number: int, words: str) -> None:
    screen.print(f"\n[bold]{number}  {words}[/]")


def show_ingest(memory: Memory, turns: list[Turn], screen: Console) -> None:
    sessions = {turn["session"] for turn in turns}
    heading(screen, 2, f"Ingest: {len(turns)} turns of {len(sessions)} conversations over nine days")
    memory.put_document("AGENTS.md", read_rules())
    started = time.monotonic()
    answer = memory.ingest_batch(turns)
    accepted_s = time.monotonic() - started
    wait_until(lambda: memory.status()["unsearchable"] == 0, "the turns are not searchable")
    screen.print(
        f"{answer.accepted} accepted and durable in {accepted_s * 1000:.0f} ms, all searchable after "
        f"{time.monotonic() - started:.1f} s. Sent again: {memory.ingest_batch(turns).duplicate} duplicates, "
        "nothing stored twice."
    )


def show_gate(memory: Memory, turns: list[Turn], screen: Console) -> None:
    wait_until(lambda: memory.status()["unfinished"] == 0, "the gate has not come to an end")
    said = [turn for turn in turns if turn["role"] == "user"]
    gated = [Gated(turn["text"], memory.receipt(turn["event_id"])) for turn in said]
    promoted = [one for one in gated if one.receipt.promoted]
    refused = [one for one in gated if not one.receipt.promoted]
    threshold = next(float(one.signals["threshold"]) for one in gated if one.signals)
    heading(screen, 3, f"Gate: {len(promoted)} of {len(gated)} user turns became durable memory")
    screen.print(f"From a score of {threshold:.2f} on: how new it is, how often said, what it is worth.")
    screen.print(promotion_table(promoted))
    screen.print(f"\nNot promoted: {len(refused)}. They stay in their session; some of them:")
    screen.print(refusal_table(sample_refused(refused)))


def sample_refused(refused: list[Gated]) -> list[Gated]:
    """Picks some turns, from the one that came closest to the one that said least."""
    ranked = sorted(refused, key=lambda one: -one.signal("score"))
    step = max(1, (len(ranked) - 1) // (SHOWN_REFUSALS - 1))
    return [*ranked[:-1:step][: SHOWN_REFUSALS - 1], *ranked[-1:]]


def show_compaction(memory: Memory, turns: list[Turn], screen: Console) -> None:
    heading(screen, 4, f"Compaction: the conversation '{COMPACTED}' gets shorter, nothing is lost")
    memory.compact(COMPACTED, user=USER, force=True)
    job = Call("GET", path("sessions", COMPACTED, "compact"), Object, params={"user": USER})
    wait_until(lambda: memory.do(job)["status"] in ENDED, "the compaction has not come to an end")
    ended = memory.do(job)
    check_finished(ended)
    own = [turn["event_id"] for turn in turns if turn["session"] == COMPACTED]
    made = dict.fromkeys(into for event in own if (into := memory.receipt(event).compacted_into))
    rows = [read_summary(memory, summary) for summary in made]
    screen.print(summary_table(rows))
    before = sum(row.tokens_before for row in rows)
    after = sum(row.tokens for row in rows)
    turns_covered = sum(row.turns for row in rows)
    screen.print(
        f"{before} tokens of {turns_covered} turns became {after} of summaries. A summary expands to "
        "exactly the turns it covers; what was promoted stays."
    )


def read_summary(memory: Memory, summary_id: str) -> Compacted:
    covered = memory.expand(summary_id).turns
    return Compacted(memory.read(summary_id), len(covered), sum(estimate_tokens(turn.text) for turn in covered))


def show_prompt(memory: Memory, screen: Console) -> None:
    heading(screen, 5, f"Assemble: the memory part of the next prompt, at most {BUDGET} tokens")
    screen.print(f'Iris asks: "{QUESTION}"\n', markup=False)
    context = memory.assemble(user=USER, session=ASKED_IN, query=QUESTION, token_budget=BUDGET)
    screen.print(context.text, markup=False)
    receipt = memory.trace(context.trace_id or "")
    screen.print(budget_bar(receipt))
    screen.print(budget_legend(receipt))
    considered = receipt["considered"]
    heading(screen, 6, f"Explain: {len(considered)} candidates were considered; these came first")
    shown = considered[:SHOWN_CANDIDATES]
    texts = {row["id"]: memory.read(row["id"]).text for row in shown}
    screen.print(receipt_table(shown, texts))
    screen.print(f"It was {temporal_line(receipt['temporal'])}.", markup=False)


def show_more(memory: Memory, screen: Console) -> None:
    heading(screen, 7, "Ask on: what changed, and what memory does not know")
    for question in MORE_QUESTIONS:
        screen.print(f'"{question}"', markup=False)
        context = memory.assemble(user=USER, session=LATER, query=question, token_budget=BUDGET, order="score")
        recalled = [line for line in context.text.splitlines() if line.startswith("[M")]
        screen.print("\n".join(recalled[:SHOWN_LINES]) or "Nothing is recalled, no token is spent.", markup=False)


def show_next(screen: Console) -> None:
    heading(screen, 8, "Try next")
    for command, words in (
        ("lithify up", "a node that stays, and curl commands for it"),
        ("lithify ingest FILE.jsonl", "your own conversations, one JSON turn a line"),
        ("lithify explain TRACE", "this receipt for any answer of yours"),
        ("lithify status --watch", "queues and workers of a running service"),
    ):
        screen.print(f"  {command:<28}{words}", markup=False)


def wait_until(done: Callable[[], bool], complaint: str) -> None:
    """Polls. Raises Unavailable when it takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > deadline:
            raise Unavailable(
                f"{complaint} after {PATIENCE_S:.0f} s; look at the node's log with `lithify demo --keep`"
            )
        time.sleep(POLL_S)
