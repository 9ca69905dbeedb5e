"""Normal forms in linear time: no call of the sorter sees more than a span."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lithify.memory import normal_form
from lithify.memory.normal_form import SPAN, Form, normalise_form

# Two kinds by turns, which a normal form sorts.
MARKS = "\u0301\u0323"
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")

# Letters with what joins them from behind: accents, vowel signs, parts of Hangul, marks of kana.
syllables = st.tuples(
    st.characters(exclude_categories=["Cs"]), st.text("\u0301\u0323\u0bbe\u094d\u1161\u11a8\uff9e\u3099", max_size=8)
).map("".join)


@given(st.lists(syllables, max_size=SPAN).map("".join), st.sampled_from(FORMS))
@example("ﾊﾞ" * SPAN, "NFKC")
@example("\u1112\u1161\u11ab" * SPAN, "NFC")
@example("\u0bc6\u0bbe" * SPAN, "NFC")
@example("e\u0323\u0301" * SPAN, "NFC")
@example("x" + "e\u0301" * SPAN, "NFC")
def test_text_is_normalised_as_unicode_says(text: str, form: Form) -> None:
    assert normalise_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("text", [MARKS * 50_000, "e" + MARKS * 50_000, "\ufdfa" * 50_000, "語" * 50_000])
def test_endless_accents_are_never_sorted_all_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    class Counting:
        category = staticmethod(unicodedata.category)

        @staticmethod
        def normalize(form: Form, span: str) -> str:
            lengths.append(len(span))
            return unicodedata.normalize(form, span)

    monkeypatch.setattr(normal_form, "unicodedata", Counting)
    normalise_form("NFKC", text)
    assert max(lengths) <= SPAN
    assert sum(lengths) == len(text)
