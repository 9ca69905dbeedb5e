"""`lithify calibrate gate`: how gating scores spread, what they are worth by labels, and the threshold that follows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Self

import typer
from rich.table import Table

from lithify.cli.calibrate.corpus.labelled import LabelledTurn, read_turns, shipped_turns
from lithify.cli.calibrate.gate_replay import EmbeddedTurn, embed_turns, learn_from, learn_from_others, replay
from lithify.cli.console import data, emit_json, talk
from lithify.embedding import load_configured_embedder
from lithify.errors import Invalid
from lithify.gatekeeper.turn_gate import TurnGate, foreign_config, gate_config
from lithify.gatekeeper.worth_file import WORTH_FILE, find_worth, write_worth
from lithify.memory.gating.calibration import (
    GateQuality,
    Step,
    fit_isotonic,
    histogram,
    measure_quality,
    suggest_threshold,
)
from lithify.memory.gating.gate import PATTERN_THRESHOLD
from lithify.memory.gating.gate_profile import Evidence, GateProfile
from lithify.memory.gating.worth import Worth
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.node.parts import retrieval_profile
from lithify.settings import Settings, load_settings

BINS: Final = 20
BAR: Final = 40

LEARN_HELP = (
    f"Learn what is worth keeping from the labels and write it here; a profile's folder holds it as {WORTH_FILE}."
)


@dataclass(frozen=True, slots=True)
class ScoredTurn:
    """A turn that was scored, and whether it was kept."""

    turn: LabelledTurn
    score: float
    kept: bool


@dataclass(frozen=True, slots=True)
class GateReport:
    """`by_kind` has, for every kind of turn, how many there were and how many were kept."""

    evidence: str
    threshold: float
    scores: tuple[int, ...]
    by_kind: dict[str, tuple[int, int]]
    quality: GateQuality | None = None
    steps: tuple[Step, ...] = ()
    suggested: float | None = None


def gate(
    file: Annotated[
        Path | None, typer.Argument(help="JSON lines with text, and optionally user, keep (the label) and score.")
    ] = None,
    evidence: Annotated[Evidence, typer.Option(help="What the gate goes by.")] = "learned",
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Another threshold than the usual one.")] = None,
    wanted: Annotated[float, typer.Option(min=0, max=1, help="Share of useful turns the threshold must reach.")] = 0.5,
    learn: Annotated[Path | None, typer.Option(help=LEARN_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurement as JSON.")] = False,
) -> None:
    """Show how gating scores spread and, with labels, what they are worth; without a file, on the shipped turns.

    Turns without a score go through the gate in their order, each user from an empty memory. On turns the gate has
    learned from, each user is judged by what the others taught.
    """
    turns = read_turns(file) if file else shipped_turns()
    usual = PATTERN_THRESHOLD if threshold is None else threshold
    scored = [ScoredTurn(turn, turn.score, turn.score >= usual) for turn in turns if turn.score is not None]
    if len(scored) == len(turns):
        report = make_report(scored, "given", usual, wanted)
    else:
        trial = GateTrial.open(turns, load_settings())
        if learn:
            write_worth(learn, learn_from(trial.spoken, trial.family))
        gates = trial.gates(evidence, threshold, own=bool(learn) or file is None)
        report = make_report(trial.score(gates), evidence, next(iter(gates.values())).config.threshold, wanted)
    if as_json:
        emit_json(report_fields(report))
    else:
        show(report)


@dataclass(frozen=True, slots=True)
class GateTrial:
    """Sends turns through the gate of an embedding profile."""

    spoken: list[EmbeddedTurn]
    family: str
    profile: Path
    gate: GateProfile
    background: float

    @classmethod
    def open(cls, turns: Sequence[LabelledTurn], settings: Settings) -> Self:
        """Embeds the turns with the configured model. Raises Misconfigured if it is missing."""
        embedder = load_configured_embedder(settings)
        folder = settings.models_dir / settings.embedding_profile
        manifest = embedder.manifest
        gate = retrieval_profile(settings).gate
        return cls(embed_turns(turns, embedder), manifest.family, folder, gate, manifest.background.documents)

    def gates(self, evidence: Evidence, threshold: float | None, *, own: bool) -> dict[str, TurnGate]:
        """Returns a gate for each user; `own` turns are those the gate has learned from."""
        users = sorted({one.turn.user for one in self.spoken})
        worths = self._worths(users, own=own) if evidence == "learned" else {}
        profile = replace(self.gate, evidence=evidence)
        config = gate_config(profile, worths.get(users[0]))
        if threshold is not None:
            config = replace(config, threshold=threshold)
        common = TurnGate(
            config, self.gate.merge, LexicalAnalyser(), background=self.background, foreign=foreign_config(profile)
        )
        return {user: replace(common, worth=worths.get(user)) for user in users}

    def _worths(self, users: Sequence[str], *, own: bool) -> dict[str, Worth]:
        if own:
            return learn_from_others(self.spoken, self.family)
        worth = find_worth(self.profile, self.family)
        if worth is None:
            raise Invalid(f"nothing was learned for {self.family} yet; learn it (--learn), or choose gp1 or gp2")
        return dict.fromkeys(users, worth)

    def score(self, gates: Mapping[str, TurnGate]) -> list[ScoredTurn]:
        decisions = replay(self.spoken, gates)
        pairs = zip(self.spoken, decisions, strict=True)
        return [ScoredTurn(one.turn, made.decision.score, made.memory_id is not None) for one, made in pairs]


def make_report(scored: Sequence[ScoredTurn], evidence: str, threshold: float, wanted: float) -> GateReport:
    seen = Counter(one.turn.kind for one in scored)
    kept = Counter(one.turn.kind for one in scored if one.kept)
    by_kind = {kind: (seen[kind], kept[kind]) for kind in sorted(seen)}
    report = GateReport(evidence, threshold, histogram((one.score for one in scored), BINS), by_kind)
    labels = [one.turn.keep for one in scored if one.turn.keep is not None]
    if len(labels) < len(scored):
        return report
    steps = fit_isotonic([one.score for one in scored], labels)
    measure = measure_quality([one.kept for one in scored], labels)
    return replace(report, quality=measure, steps=steps, suggested=suggest_threshold(steps, wanted))


def report_fields(report: GateReport) -> dict[str, Any]:
    fields = asdict(report)
    if report.quality is not None:
        fields["quality"] |= {"precision": report.quality.precision, "recall": report.quality.recall}
    return fields


def show(report: GateReport) -> None:
    data.print(score_table(report))
    if any(report.by_kind):
        data.print(kind_table(report))
    if report.quality is None:
        talk.print("no labels: add `keep` to every line for precision, recall and a threshold")
        return
    measure = report.quality
    data.print(f"precision {measure.precision:.3f}, recall {measure.recall:.3f} at {report.threshold:.3f}")
    data.print(step_table(report.steps))
    data.print("suggested threshold: " + ("none" if report.suggested is None else f"{report.suggested:.3f}"))


def score_table(report: GateReport) -> Table:
    table = Table("score from", "turns", "", title=f"Gating scores by {report.evidence}")
    most = max(report.scores) or 1
    for number, count in enumerate(report.scores):
        table.add_row(f"{number / BINS:.2f}", str(count), "█" * round(BAR * count / most))
    return table


def kind_table(report: GateReport) -> Table:
    table = Table("kind", "turns", "kept", title="What was kept")
    for kind, (turns, kept) in report.by_kind.items():
        table.add_row(kind, str(turns), str(kept))
    return table


def step_table(steps: Sequence[Step]) -> Table:
    table = Table("score from", "useful", "turns", title="P(useful | score), isotonic")
    for step in steps:
        table.add_row(f"{step.least:.3f}", f"{step.share:.0%}", str(step.turns))
    return table
