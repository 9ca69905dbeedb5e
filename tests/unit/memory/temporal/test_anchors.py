"""Expressions that tie a text to a time (spec 09)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.temporal.anchors import anchor_density, find_anchors


@pytest.mark.parametrize(
    ("text", "density"),
    [
        ("Boiler broke 4/2, plumber came April 9th at 8:15 am", 1.0),
        ("The visa came on 5/20", 0.3333333),
        ("Moved in on 2024-08-11.", 0.3333333),
        ("Nothing happened here", 0.0),
        ("in the middle of nowhere", 0.0),
    ],
)
def test_anchor_density_of_the_worked_texts(text: str, density: float) -> None:
    """spec 09.3"""
    assert anchor_density(text) == pytest.approx(density, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("at midnight in mid-June, mid-summer, mid May", {"mid-june", "mid-summer", "mid may"}),
        ("Sept. 3rd, 2021 or 3/4/21 or 3/4/2021", {"sept. 3rd, 2021", "3/4/21", "3/4/2021"}),
        ("in April 2019", {"2019"}),
        ("Last  Saturday and next friday, then Friday", {"last saturday", "next friday", "friday"}),
        ("today, TODAY, yesterday", {"today", "yesterday"}),
        ("2024-08-11T08:15:30 logged 1719830400123", {"2024-08-11", "08:15", "1719830400123"}),
        ("order 20240 costs 19.99, path 1/2/3/4, 123456789", set()),
    ],
)
def test_each_expression_is_one_anchor(text: str, anchors: set[str]) -> None:
    assert find_anchors(text) == anchors


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("We met on 9 April, again on the 3rd of May.", {"9 april", "3rd of may"}),
        ("9th April 2023 and 9. April and 9-Apr-2023", {"9th april 2023", "9. april", "9-apr-2023"}),
        ("see you on 3 may; the boat left 12 march 2021", {"3 may", "12 march 2021"}),
        ("last Tuesday, this Friday, on Monday", {"last tuesday", "this friday", "monday"}),
        ("two weeks ago, 3 days ago", {"two weeks ago", "3 days ago"}),
        ("am 09.04.2023, 11. 8. 2024 oder 09.04.23", {"09.04.2023", "11. 8. 2024", "09.04.23"}),
        ("2023/04/09 at 4/9/23", {"2023/04/09", "4/9/23"}),
        ("from 2019-2021, since 1999.", {"2019", "2021", "1999"}),
    ],
)
def test_dates_count_as_people_write_them(text: str, anchors: set[str]) -> None:
    assert find_anchors(text) == anchors


@pytest.mark.parametrize(
    "text",
    [
        "You may go. Only 3 may enter, and the 2nd may be late.",
        "They march on; we march 20 miles or march 2.5 km.",
        "Python 3.11.14, v1.2.3, 1.2.10, release 10.12.14 at 192.168.20.19",
        "It costs $2000, 2000 €, 2,000 or EUR 1999; 2000.50 dollars; 19.99",
        "2048 MB of memory and 2000 steps, open 24/7, split 50/50",
        "on Fridays, in the fall, at midnight",
    ],
)
def test_verbs_versions_and_prices_are_no_dates(text: str) -> None:
    assert find_anchors(text) == set()


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("Wir fahren am 3. März 2024 nach Rom, nicht gestern.", {"3. märz 2024", "gestern"}),
        ("Nos vemos el 3 de abril de 2024 a las 8:15.", {"3 de abril de 2024", "a las 8"}),
        ("Le 1er mai nous partons ; jeudi on rentre.", {"1er mai", "jeudi"}),
        ("Мы едем в Рим 3-го марта, а вернёмся 04.05.2024.", {"3-го марта", "04.05.2024"}),
        ("我们2024年3月3日去罗马，昨天订的。", {"2024年", "3月3日", "昨天"}),
        ("3월 3일에 만나요, 다음 주는 안 돼요.", {"3월 3일", "다음 주"}),
        ("سنسافر في 3 مارس 2025", {"3 مارس 2025"}),
    ],
)
def test_dates_of_another_language_count_once_beside_numbers(text: str, anchors: set[str]) -> None:
    assert find_anchors(text) == anchors


@pytest.mark.parametrize(
    "text",
    ["Guten Morgen, wie geht es dir?", "Por la mañana no tengo hambre.", "Im Winter mag ich Tee.", "На море тепло."],
)
def test_greetings_and_parts_of_the_day_tie_a_text_to_no_date(text: str) -> None:
    assert find_anchors(text) == set()


@settings(max_examples=200, deadline=None)
@given(st.text(), st.sampled_from(["4/2", "Monday", "2024-08-11", "today", "8:15 am", "in 1999", "nothing"]))
def test_anchor_density_is_bounded_and_grows_with_the_text(text: str, more: str) -> None:
    assert 0.0 <= anchor_density(text) <= anchor_density(f"{text}\n\n{more}") <= 1.0
