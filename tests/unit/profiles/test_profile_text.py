"""A profile as text: what is printed can be saved, and is read as the same profile."""

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.authority import AuthorityWeights
from lithify.memory.ranking.passages import Window
from lithify.memory.ranking.profile import SEED, HybridWeights, Profile
from lithify.profiles import BUILT_IN, parse_profile, render_profile
from lithify.profiles.slots import PROFILE, Slot

SHARES = st.floats(0.001, 1.0)


@pytest.mark.parametrize("profile", BUILT_IN.values(), ids=BUILT_IN)
def test_a_shipped_profile_is_read_as_it_was_printed(profile: Profile) -> None:
    assert parse_profile(render_profile(profile), profile.name) == profile


@settings(max_examples=100, deadline=None)
@given(
    weights=st.lists(SHARES, min_size=3, max_size=3),
    others=st.lists(SHARES, min_size=3, max_size=3),
    before=st.lists(SHARES, max_size=4),
    rate=st.floats(0.0, 1e6),
    floor=st.floats(-1.0, 1.0),
    size=st.none() | st.integers(1, 10_000),
)
def test_any_profile_keeps_its_digest(
    weights: list[float], others: list[float], before: list[float], rate: float, floor: float, size: int | None
) -> None:
    profile = replace(
        SEED,
        hybrid=HybridWeights(*weights),
        authority=AuthorityWeights(*others),
        window=Window(before=tuple(before)),
        authority_rate=rate,
        similarity_floor=floor,
        k1=size,
    ).normalise()
    again = parse_profile(render_profile(profile), "again.toml")
    assert again.digest() == profile.digest()
    assert (
        render_profile(again).partition("\n")[2].replace('"recall"', '"seed"', 1)
        == render_profile(profile).partition("\n")[2]
    )


def test_every_field_is_printed_with_what_it_may_be() -> None:
    text = render_profile(BUILT_IN["recall"])

    def check(slot: Slot, table: dict[str, object]) -> None:
        assert set(table) == set(slot.fields())
        for name, one in slot.fields().items():
            inner = table[name]
            if isinstance(inner, dict):
                check(one, inner)
            else:
                assert f"  # {one.describe()}" in text

    given = tomllib.loads(text)
    assert given.pop("base") == "recall"
    check(PROFILE, given)
    assert text.startswith(f"# Profile recall, digest {BUILT_IN['recall'].digest()}.")
