"""The doctor names the profile that would run, and what nobody checks about the hard rules."""

from pathlib import Path

from lithify.cli.doctor.retrieval import check_profile, check_reserve
from lithify.profiles import BUILT_IN
from lithify.settings import load_settings


def test_the_profile_is_named_with_its_digest() -> None:
    [finding] = check_profile(load_settings(retrieval_profile="seed"))
    assert finding.ok
    assert finding.detail == f"seed, digest {BUILT_IN['seed'].digest()[:12]}"


def test_a_profile_that_would_stop_the_process_is_found_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("delta = 2", "utf-8")
    [finding] = check_profile(load_settings(retrieval_profile=str(file)))
    assert not finding.ok
    assert "mine.toml: delta = 2: must be a number from 0 to 1" in finding.detail


def test_it_is_said_when_nobody_checks_whether_the_hard_rules_fit() -> None:
    [unchecked] = check_reserve(load_settings())
    [checked] = check_reserve(load_settings(startup_budget=1000))
    assert "not checked at start" in unchecked.detail
    assert "LITHIFY_STARTUP_BUDGET" in unchecked.detail
    assert "1000 tokens" in checked.detail
