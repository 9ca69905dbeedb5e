"""What a statement claims, and what it does not."""

import pytest

from lithify.memory.updates import Claim, read_claims


def the_claim(text: str) -> Claim:
    [claim] = read_claims(text)
    return claim


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I live in Porto now.", "residence", {"porto"}),
        ("We moved last week: it is 9 Elm Road.", "address", {"9", "elm", "road"}),
        ("My new number is 555-0199.", "phone", {"5550199"}),
        ("my favourite colour is green", "favorite color", {"green"}),
        ("My dog's name is Rex.", "dog name", {"rex"}),
        ("The budget for the kitchen is $20k.", "kitchen budget", {"20000", "dollar"}),
        ("My birthday is on May 3.", "birthday", {"month:5", "day:3"}),
        ("The meeting with Anna is on Thursday at 3pm.", "anna meeting time", {"weekday:4", "clock:3:00"}),
        ("Our team has 8 people.", "team have # people", {"number:8"}),
        ("The user lives in Prague.", "residence", {"prague"}),
    ],
)
def test_a_plain_statement_claims_one_value(text: str, attribute: str, value: set[str]) -> None:
    claim = the_claim(text)
    assert claim.attribute == attribute
    assert set(claim.value) == value


@pytest.mark.parametrize("noun", ["phone number", "number", "mobile", "cell number", "telephone number"])
def test_one_attribute_has_many_names(noun: str) -> None:
    assert the_claim(f"My {noun} is 0171 2345678.").attribute == "phone"


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Oslo?",
        "I want to live in Oslo.",
        "I might move to Oslo next year.",
        "If I worked at Google I'd have free lunch.",
        "I used to live in Oslo.",
        'She said "I live in Oslo now" and laughed.',
        "> I live in Oslo",
        "```\nI live in Oslo\n```",
        "My password is wrong.",
        "I also work at the food bank.",
        "We moved to a bigger table.",
        "I live in Oslo, too.",
        "I have time on Monday, I think.",
        "I work at A-Corp and I work at B-Corp.",
        "",
        "x" * 100_000,
    ],
)
def test_nothing_is_claimed_by_wishes_questions_quotations_and_stories(text: str) -> None:
    assert read_claims(text) == ()


def test_the_month_of_may_is_no_doubt() -> None:
    assert the_claim("The launch is in May.").value == frozenset({"month:5"})
    assert read_claims("I may live in Porto.") == ()


def test_an_address_with_a_number_is_no_age() -> None:
    assert [claim.attribute for claim in read_claims("My address is 12 Oak Street.")] == ["address"]


def test_speakers_of_one_conversation_are_told_apart() -> None:
    ada = the_claim("Ada: I live in Porto.")
    bob = the_claim("Bob: I live in Rome.")
    assert ada.attribute != bob.attribute


def test_a_denial_ends_what_it_denies() -> None:
    assert the_claim("I no longer live in Utrecht.").ended
    assert the_claim("I don't live in Utrecht anymore.").ended


def test_a_change_is_told_by_words_and_by_verbs() -> None:
    assert the_claim("I live in Porto now.").changed
    assert the_claim("We moved to Porto.").changed
    assert not the_claim("I live in Porto.").changed


def test_several_facts_of_a_long_message_are_found() -> None:
    text = (
        "Hi! Some background so you can help me better: I'm 34, I live in Basel with my partner and two kids, and I "
        "do a lot of climbing. My phone number is 061 555 01 02. Could you make me a weekly plan?"
    )
    assert {claim.attribute for claim in read_claims(text)} == {"self age", "residence", "phone"}
