"""A profile file: what it may say, and how everything else is refused."""

from dataclasses import replace

import pytest

from lithify.errors import Misconfigured
from lithify.memory.ranking.passages import Window
from lithify.memory.ranking.profile import RECALL, SEED, HybridWeights
from lithify.profiles import parse_profile
from lithify.profiles.slots import PROFILE, Slot


def test_an_empty_file_is_its_base_under_its_own_name() -> None:
    assert parse_profile("", "mine.toml") == replace(RECALL.normalise(), name="mine.toml")
    assert parse_profile('base = "seed"', "mine.toml").digest() == SEED.normalise().digest()


def test_a_file_changes_what_it_names_and_nothing_else() -> None:
    text = """
        base = "seed"
        kappa = 0.5
        k1 = 40
        hard_fraction = 0.25
        history = "user"
        raw_history = true
        [hybrid]
        recency = 0
        [window]
        before = [0.5, 1]
    """
    wanted = replace(
        SEED,
        name="mine.toml",
        kappa=0.5,
        k1=40,
        hard_fraction=0.25,
        history="user",
        raw_history=True,
        hybrid=HybridWeights(0.7, 0.0, 0.1).normalise(),
        window=Window(before=(0.5, 1.0)),
    )
    assert parse_profile(text, "mine.toml") == wanted.normalise()


def test_a_field_that_may_be_missing_can_be_unset() -> None:
    assert parse_profile('hard_fraction = "unset"', "mine.toml").hard_fraction is None


def test_whole_numbers_count_as_numbers_but_not_the_other_way_round() -> None:
    assert repr(parse_profile("delta = 1", "mine.toml").delta) == "1.0"
    with pytest.raises(Misconfigured, match=r"top_k = 8\.0: must be a whole number from 1 to 10000"):
        parse_profile("top_k = 8.0", "mine.toml")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("delta = 1.5", "delta = 1.5: must be a number from 0 to 1"),
        ("similarity_floor = -2", "similarity_floor = -2: must be a number from -1 to 1"),
        ("kappa = -0.1", "kappa = -0.1: must be a number of 0 or more"),
        ("kappa = inf", "kappa = inf: must be a number of 0 or more"),
        ("delta = nan", "delta = nan: must be a number from 0 to 1"),
        ("delta = true", "delta = true: must be a number from 0 to 1"),
        ('delta = "0.5"', 'delta = "0.5": must be a number from 0 to 1'),
        ('delta = "unset"', 'delta = "unset": must be a number from 0 to 1'),
        ("tail_turns = 0", "tail_turns = 0: must be a whole number from 1 to 10000"),
        ("k1 = 0", 'k1 = 0: must be a whole number from 1 to 10000 or "unset"'),
        ("decay_half_life_days = 0", 'decay_half_life_days = 0: must be a number above 0 or "unset"'),
        ("temporal_fill = 1", "temporal_fill = 1: must be true or false"),
        ('history = "all"', 'history = "all": must be "session" or "user"'),
        ("hybrid = 0.5", "hybrid = 0.5: must be a table of similarity, recency, scope"),
        ("[delta]", "delta = {}: must be a number from 0 to 1"),
        ("[window]\nbefore = 0.5", "window.before = 0.5: must be a list, each item a number from 0 to 1"),
        ("[window]\nbefore = [0.5, 2]", "window.before = 2: must be a number from 0 to 1"),
        ("[scope_weights]\nuser = 7", "scope_weights.user = 7: must be a number from 0 to 1"),
        ("[scope_rates]\nuser = -1", "scope_rates.user = -1: must be a number of 0 or more"),
        ("detla = 0.5", "detla is no field of a profile; did you mean delta?"),
        ("[hybrid]\nsimilarty = 1", "hybrid.similarty is no field of a profile; did you mean similarity?"),
        ("unheard_of = 1", "unheard_of is no field of a profile"),
        ('name = "x"', "name is no field of a profile"),
        ('base = "best"', 'base = "best": must be "recall" or "seed"'),
        ("base = [1]", 'base = [1]: must be "recall" or "seed"'),
        ("[temporal]\nscore = 0\nanchors = 0\ncoverage = 0", "temporal: at least one weight must be above 0"),
        (
            "soft_fraction = 0.9",
            "budget reserves may not exceed the whole budget: hard_fraction=0.4, soft_fraction=0.9",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_field_and_range(text: str, complaint: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        parse_profile(text, "mine.toml")
    assert str(refused.value) == f"profile mine.toml: {complaint}"


def test_a_text_that_is_no_toml_is_refused_with_its_place() -> None:
    with pytest.raises(Misconfigured, match=r"profile mine\.toml is not TOML: .*line 2") as refused:
        parse_profile("delta = 0.5\nkappa 0.3\n", "mine.toml")
    assert "\n" not in str(refused.value)


def test_a_long_value_is_quoted_in_part() -> None:
    with pytest.raises(Misconfigured) as refused:
        parse_profile(f'history = "{"x" * 5000}"', "mine.toml")
    assert len(str(refused.value)) < 200


def test_every_number_of_a_profile_has_a_range() -> None:
    def unbounded(slot: Slot, path: str) -> list[str]:
        if slot.is_table:
            return [name for key, one in slot.fields().items() for name in unbounded(one, f"{path}.{key}")]
        if slot.is_list:
            return unbounded(slot.item, path)
        is_bounded = slot.words or slot.kind is bool or slot.within.low > float("-inf")
        return [] if is_bounded else [path]

    assert unbounded(PROFILE, "profile") == [], "mark them with one of the types of lithify.memory.bounds"
