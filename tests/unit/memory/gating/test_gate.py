"""The gating scalar: its signals, bounds, decision and searches (spec 04)."""

import math
from dataclasses import dataclass, fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Misconfigured
from lithify.memory.gating.gate import LEARNED_CONFIG, GateConfig, GateDecision, blend, gate

TEA = "I prefer tea over coffee on long train rides"


EXAMS = "Prof. Okafor said I have 3 exams on 2026-06-01"


FIX = "Fixed ERR_QUOTA in svc/billing/rates.py by caching rows; merged to main."


SIGNATURE = "func OpenLedger(path string) (Ledger, error) {"


DEPLOY = "```sh\ngit push\nfunc Deploy() at build.go:12 commit 1a2b3c4d\n```"


MIXED = "I prefer moving /app/queue.py after we fixed ERR_STALL in func DrainQueue() on 2026-05-04."


GP2 = GateConfig(patterns="gp2")


SIGNALS = ("t", "h", "r", "d", "p", "a", "dtech", "gconv", "gtech", "score")


@dataclass(frozen=True, slots=True)
class Case:
    text: str
    turns: tuple[float, ...]
    memories: tuple[float, ...]
    signals: tuple[float, ...]  # in the order of SIGNALS, under gp1
    gp2: float


CASES = (
    Case("hello", (), (), (0, 1, 0, 0, 0, 0, 0, 0.35, 0, 0.35), 0.35),
    Case(TEA, (), (), (0, 1, 0, 0.4, 0, 0, 0, 0.45, 0, 0.45), 0.45),
    Case(TEA, (), (0.75, -0.25), (0, 0.625, 0, 0.4, 0, 0, 0, 0.31875, 0, 0.31875), 0.31875),
    Case(TEA, (0.8,) * 5, (0.5,) * 3, (0, 0.5, 1, 0.4, 0, 0, 0, 0.675, 0, 0.675), 0.675),
    Case(TEA, (0.95,) * 10, (0.9,) * 5, (0, 0.1, 0, 0.4, 0, 0, 0, 0.135, 0, 0.135), 0.135),
    Case(EXAMS, (), (), (0, 1, 0, 1, 0.5, 0, 0, 0.6, 0.2, 0.6), 0.6),
    Case("I want to go home", (), (), (4 / 15, 1, 0, 0, 0, 0, 0, 0.35, 0, 0.256667), 0.35),
    Case(FIX, (), (), (7 / 15, 1, 0, 0, 1, 0.7, 0, 0.35, 0.645, 0.487667), 0.428667),
    Case(SIGNATURE, (), (), (4 / 15, 1, 0, 0, 0.8, 0, 0.4, 0.35, 0.42, 0.368667), 0.315333),
    Case("panic: disk error at main.go:42", (), (), (0.6, 1, 0, 0.2, 0.9, 0, 0, 0.4, 0.36, 0.376), 0.32),
    Case(DEPLOY, (), (), (1, 1, 0, 0.2, 0.7, 0, 0.4, 0.4, 0.38, 0.38), 0.38),
    Case(MIXED, (1.0,) * 5, (1, 1), (11 / 15, 0, 1 / 3, 0.9, 1, 0.4, 0.4, 0.358333, 0.64, 0.564889), 0.564889),
    Case("panic: nil map write at store.go:88", (), (), (0.6, 1, 0, 0.2, 0, 0, 0, 0.4, 0, 0.16), 0.266667),
)


wild_floats = st.floats(allow_nan=True, allow_infinity=True)


scores = st.lists(wild_floats, max_size=12)


evidence = st.sampled_from(
    [TEA, EXAMS, FIX, SIGNATURE, DEPLOY, MIXED, "traceback", "0xff", "struct", "test(x)", "// note", " "],
)


texts = st.one_of(st.text(), st.lists(st.one_of(evidence, st.text(max_size=20)), max_size=5).map("\n".join))


configs = st.builds(
    GateConfig,
    **dict.fromkeys(("w1c", "w2c", "w3c", "w1t", "w2t", "w3t", "tech_norm", "threshold"), wild_floats),
    patterns=st.sampled_from(["gp1", "gp2"]),
)


@settings(max_examples=300, deadline=None)
@given(texts, scores, scores, configs)
def test_score_lies_between_its_branches(
    text: str, turns: list[float], memories: list[float], config: GateConfig
) -> None:
    """spec 04.4"""
    decision = gate(text, turns, memories, config)
    assert all(0.0 <= getattr(decision, name) <= 1.0 for name in SIGNALS)
    assert min(decision.gconv, decision.gtech) <= decision.score <= max(decision.gconv, decision.gtech)


unit = st.floats(0, 1)


@settings(max_examples=500, deadline=None)
@given(unit, unit)
def test_equal_branches_leave_nothing_to_blend(t: float, branch: float) -> None:
    """spec 04.4: rounding must not push the score out of its branches."""
    assert blend(t, branch, branch) == branch


def test_pure_talk_and_pure_technology_use_one_branch() -> None:
    """spec 04.5"""
    talk, technology = gate(TEA, [], []), gate(DEPLOY, [], [])
    assert talk.t == 0.0
    assert talk.score == talk.gconv
    assert technology.t == 1.0
    assert technology.score == technology.gtech
    assert technology.gtech != technology.gconv


def test_code_signature_is_no_conversation() -> None:
    """spec 04.6"""
    assert gate(SIGNATURE, [], []).d == 0.0


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.text[:20]}|{case.memories}")
def test_worked_case(case: Case) -> None:
    """spec 04.7"""
    decision = gate(case.text, case.turns, case.memories)
    assert [getattr(decision, name) for name in SIGNALS] == pytest.approx(case.signals, abs=1e-6)
    assert decision.promote is (case.signals[-1] >= 0.35)
    corrected = gate(case.text, case.turns, case.memories, GP2)
    assert corrected.score == pytest.approx(case.gp2, abs=1e-6)
    assert corrected.promote is (case.gp2 >= 0.35)


def test_threshold_is_inclusive() -> None:
    """spec 04.10"""
    boundary = gate("hello", [], [])
    assert boundary.score == 0.35
    assert boundary.promote
    below = gate("hello", [], [0.0000001 / 0.35])
    assert below.score == pytest.approx(0.3499999, abs=1e-12)
    assert not below.promote


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.text[:20]}|{case.memories}")
def test_payload_carries_the_signals_and_reproduces_the_score(case: Case) -> None:
    """spec 04.13"""
    config = GateConfig()
    payload = gate(case.text, case.turns, case.memories, config).as_payload()
    numbers = {name.removeprefix("gating_"): value for name, value in payload.items()}
    assert numbers.pop("patterns") == "gp1"
    stored = {name: float(value) for name, value in numbers.items()}
    assert set(stored) == {*SIGNALS, "input_freq", "mem_saturation"}
    talk = zip(config.conversational, (stored["h"], stored["r"], stored["d"]), strict=True)
    technology = zip(config.technical, (stored["p"], stored["a"], stored["dtech"]), strict=True)
    gconv, gtech = (sum(weight * signal for weight, signal in pairs) for pairs in (talk, technology))
    repeated = stored["input_freq"] * (1 - stored["mem_saturation"])
    assert stored["r"] == pytest.approx(repeated, abs=1e-9)
    assert stored["score"] == pytest.approx((1 - stored["t"]) * gconv + stored["t"] * gtech, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(texts, scores, scores, configs)
def test_any_decision_recombines(text: str, turns: list[float], memories: list[float], config: GateConfig) -> None:
    decision = gate(text, turns, memories, config)
    assert blend(decision.t, decision.gconv, decision.gtech) == pytest.approx(decision.score, abs=1e-9)


def test_weights_are_made_convex_per_branch() -> None:
    """spec 04.15"""
    thirds = GateConfig(w1c=1, w2c=1, w3c=1, w1t=1, w2t=1, w3t=1)
    assert thirds.conversational == pytest.approx((1 / 3,) * 3)
    assert thirds.technical == pytest.approx((1 / 3,) * 3)
    fallen = GateConfig(w1c=0, w2c=0, w3c=-1, w1t=5, w2t=0, w3t=0)
    assert fallen.conversational == (0.35, 0.40, 0.25)
    assert fallen.technical == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_non_finite_numbers_fall_back_to_defaults(bad: float) -> None:
    config = GateConfig(w1c=bad, w2c=1, w3t=bad, w1t=1, tech_norm=bad, threshold=bad)
    assert config == GateConfig()


def test_limits_are_kept_in_their_domains() -> None:
    assert GateConfig(tech_norm=0).tech_norm == 1.5
    assert GateConfig(tech_norm=-2).tech_norm == 1.5
    assert GateConfig(tech_norm=2).tech_norm == 2
    assert (GateConfig(threshold=7).threshold, GateConfig(threshold=-1).threshold) == (1.0, 0.0)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(Misconfigured, match="patterns is 'gp3'; choose one of gp1, gp2"):
        GateConfig(patterns="gp3")
    with pytest.raises(Misconfigured, match="durable_admission is 'never'"):
        GateConfig(durable_admission="never")  # type: ignore[arg-type]  # what an operator may type


def test_always_mode_promotes_and_keeps_the_signals() -> None:
    gated = gate(TEA, [], [0.75, -0.25])
    always = gate(TEA, [], [0.75, -0.25], GateConfig(durable_admission="always"))
    assert (gated.promote, always.promote) == (False, True)
    assert always.as_payload() == gated.as_payload()


def test_stability_never_falls_below_that_of_a_user_turn() -> None:
    assert gate("hello", [], []).stability_weight == 0.5
    assert gate(EXAMS, [], []).stability_weight == pytest.approx(0.6)


def test_payload_leaves_out_no_field_but_the_verdict() -> None:
    decision = gate(MIXED, [], [])
    assert len(decision.as_payload()) == len(fields(decision)) - 1


HOSTILE_ATOMS = ("a", "-", " \n", "`", "a/", "-1/2/", "a.", "a(", "use ", "at x", "my a ", "HTTP ")


@pytest.mark.parametrize("atom", HOSTILE_ATOMS)
def test_hostile_text_of_200_kb_is_judged(atom: str) -> None:
    """Returns at all: a backtracking expression would need hours here."""
    text = f"x{atom * (200_000 // len(atom))}é"
    assert all(0.0 <= gate(text, [], [], config).score <= 1.0 for config in (GateConfig(), GP2))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:20])
def test_a_stored_decision_is_read_again(case: Case) -> None:
    decision = gate(case.text, case.turns, case.memories)
    assert GateDecision.from_payload(decision.as_payload(), promote=decision.promote) == decision
    assert GateDecision.from_payload({}, promote=True) is None


def test_a_learned_worth_stands_for_what_the_patterns_look_for() -> None:
    decision = gate(TEA, [], [], LEARNED_CONFIG, worth=7.0)
    assert (decision.d, decision.a, decision.patterns) == (1.0, 1.0, "gp2+worth")
    assert decision.promote
    assert not gate(TEA, [], [], LEARNED_CONFIG, worth=0.0).promote
