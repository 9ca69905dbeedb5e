"""No text makes looking for the phrases of a language slow; what is checked of grammars holds for data files, too."""

import pytest

from lithify.memory.languages import load_languages
from lithify.memory.languages.language import CUES
from tests.unit.memory.guidance import test_linear_patterns as linear

NAMES = [f"{table}.{field}" for table, fields in CUES.items() for field in fields]


@pytest.mark.parametrize("code", sorted(load_languages()))
def test_the_phrases_of_a_language_take_a_bounded_number_of_ways(code: str) -> None:
    language = load_languages()[code]
    patterns = [pattern for name in NAMES if (pattern := language.find_pattern(name)) is not None]
    assert len(patterns) > 10
    for pattern in patterns:
        linear.test_a_pattern_takes_a_bounded_number_of_ways(pattern)
