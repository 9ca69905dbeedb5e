"""A request about dead letters says exactly which ones."""

from typing import Any

import pytest
from pydantic import ValidationError

from lithify.errors import Invalid
from lithify.operations.letter_schema import MAX_IDS, PurgeSelection, Selection


@pytest.mark.parametrize("body", [{"ids": ["0-1-0"]}, {"all": True}])
def test_letters_are_chosen_by_id_or_all(body: dict[str, Any]) -> None:
    Selection.model_validate(body)
    PurgeSelection.model_validate(body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"all": False},
        {"ids": []},
        {"ids": ["0-1-0"], "all": True},
        {"ids": ["0-1-0"] * (MAX_IDS + 1)},
        {"older_than_s": 5},
        {"everything": True},
    ],
)
def test_no_choice_or_more_than_one_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Selection.model_validate(body)


def test_old_letters_can_be_chosen_for_purging_only_alone() -> None:
    PurgeSelection.model_validate({"older_than_s": 0})
    with pytest.raises(ValidationError, match="exactly one of ids, all, older_than_s"):
        PurgeSelection.model_validate({"older_than_s": 5, "all": True})


def test_a_wrong_id_is_named() -> None:
    with pytest.raises(Invalid, match="'nonsense'"):
        Selection.model_validate({"ids": ["nonsense"]}).letter_ids()
