"""A later instruction that says otherwise takes the place of the earlier one."""

import pytest

from lithify.memory.guidance import read_instructions
from lithify.memory.updates import is_updated, read_claims


def is_retired(earlier: str, later: str) -> bool:
    before = (*read_claims(earlier), *read_instructions(earlier))
    after = (*read_claims(later), *read_instructions(later))
    return any(is_updated(old, new) for old in before for new in after)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Always answer in English.", "From now on answer in German."),
        ("Call me Ada.", "Please call me Countess."),
        ("Always use emojis.", "Stop using emojis please."),
        ("Keep your answers short.", "From now on give me detailed answers."),
        ("I prefer tabs to spaces.", "From now on use spaces instead of tabs."),
        ("Use metric units by default.", "From now on use imperial units."),
        ("Never give me temperatures in Fahrenheit, always use Celsius.", "From now on, use Fahrenheit."),
        ("Always cite your sources.", "From now on don't cite your sources anymore."),
    ],
)
def test_a_contrary_instruction_retires_the_earlier_one(earlier: str, later: str) -> None:
    assert is_retired(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Always answer in English.", "Always answer in bullet points."),
        ("Never use tabs.", "Never use emojis."),
        ("Keep your answers short.", "Please answer in German from now on."),
        ("Use British spelling in everything you write for me.", "Answer in English from now on."),
        ("Always answer in English.", "Always answer in English, please."),
        ("Always answer in English.", "Translate this into German."),
        ("Whenever I ask for code, give me TypeScript.", "Whenever I ask for a recipe, give me the calories."),
    ],
)
def test_instructions_about_different_things_stand_side_by_side(earlier: str, later: str) -> None:
    assert not is_retired(earlier, later)


def test_what_is_no_instruction_claims_nothing() -> None:
    assert read_instructions("Delete the staging database.") == ()
    assert read_instructions("Answer this mail in German.") == ()
