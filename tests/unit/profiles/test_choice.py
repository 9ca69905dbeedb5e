"""The profile that a setting names."""

from pathlib import Path

import pytest

from lithify.errors import Misconfigured
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.profiles import load_profile
from lithify.settings import load_settings


def test_shipped_profiles_are_known_by_name() -> None:
    assert load_profile("recall") == RECALL.normalise()
    assert load_profile("seed") == SEED.normalise()


def test_a_file_is_a_profile_called_after_it(tmp_path: Path) -> None:
    file = tmp_path / "recall.toml"
    file.write_text("kappa = 0.1", "utf-8")
    profile = load_profile(str(file))
    assert (profile.name, profile.kappa) == ("recall.toml", 0.1)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"missing\.toml cannot be read: No such file"):
        load_profile(str(tmp_path / "missing.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Misconfigured, match=r"bytes\.toml cannot be read: it is not UTF-8"):
        load_profile(str(tmp_path / "bytes.toml"))


def test_the_setting_takes_a_name_or_the_path_of_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(retrieval_profile="seed").retrieval_profile == "seed"
    assert load_settings(retrieval_profile="mine.toml").retrieval_profile == str(tmp_path / "mine.toml")
    with pytest.raises(Misconfigured, match=r"LITHIFY_RETRIEVAL_PROFILE cannot be 'recal'.*recall, seed, or the path"):
        load_settings(retrieval_profile="recal")
