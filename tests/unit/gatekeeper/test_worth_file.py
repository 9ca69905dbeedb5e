"""What was learned about worth is kept in a file and found again."""

from pathlib import Path

import numpy as np
import pytest

from lithify.errors import Misconfigured
from lithify.gatekeeper.worth_file import WORTH_FILE, find_worth, read_worth, write_worth
from lithify.memory.gating.worth import Worth, learn_worth

TEXTS = ["green boats", "red boats", "green trams", "red trams"]
VECTORS = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
BOATS = [True, True, False, False]


@pytest.fixture
def boats() -> Worth:
    return learn_worth("test", TEXTS, VECTORS, BOATS)


def test_the_own_file_of_a_profile_comes_first(tmp_path: Path, boats: Worth) -> None:
    assert find_worth(tmp_path, "test") is None
    write_worth(tmp_path / WORTH_FILE, boats)
    found = find_worth(tmp_path, "test")
    assert found is not None
    assert found("green boats", [1.0, 0.0]) == pytest.approx(boats("green boats", [1.0, 0.0]), abs=1e-3)


def test_whether_the_words_are_heard_is_kept_and_absent_from_older_files(tmp_path: Path, boats: Worth) -> None:
    write_worth(tmp_path / WORTH_FILE, boats)
    found = find_worth(tmp_path, "test")
    assert found is not None
    assert found.hears_words
    assert not read_worth(b'{"family": "test", "weights": [1.0]}', "test", "old.json").hears_words


@pytest.mark.parametrize("family", ["snowflake-arctic-embed-s", "all-minilm-l6-v2"])
def test_the_default_and_the_light_profile_ship_with_one(tmp_path: Path, family: str) -> None:
    shipped = find_worth(tmp_path, family)
    assert shipped is not None
    assert 0.0 <= shipped("hello", np.zeros(384)) <= 1.0


@pytest.mark.parametrize("content", [b"{}", b"[]", b"no", b'{"family": "test", "weights": ["a"]}'])
def test_a_damaged_file_is_named(content: bytes) -> None:
    with pytest.raises(Misconfigured, match=r"own\.json cannot be read"):
        read_worth(content, "test", "own.json")


def test_a_file_of_another_model_is_refused() -> None:
    with pytest.raises(Misconfigured, match="learned for other, not for test"):
        read_worth(b'{"family": "other", "weights": [1.0]}', "test", "own.json")
