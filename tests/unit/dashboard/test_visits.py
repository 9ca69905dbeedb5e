"""A key is mixed so that neither half tells it, and forms of one visit do not fit another."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.access import Credential
from lithify.dashboard.entrance import place_inside
from lithify.dashboard.visits import digest_of, form_mark, is_token, mixed, new_token


@given(st.text(max_size=300))
def test_only_the_same_token_gives_the_text_back(text: str) -> None:
    token = new_token()
    assert mixed(token, mixed(token, text.encode())).decode() == text


def test_what_is_kept_shows_nothing_of_the_key() -> None:
    key, token = Credential.new().reveal().encode(), new_token()
    held = mixed(token, key)
    assert len(held) == len(key)
    assert held[:3] != key[:3]
    assert mixed(new_token(), held) != key


def test_tokens_differ_and_lead_neither_to_their_digest_nor_to_their_mark() -> None:
    token, other = new_token(), new_token()
    assert is_token(token)
    assert not is_token(token.upper() + "!")
    assert len({token, other, digest_of(token), form_mark(token), form_mark(other)}) == 5


def test_only_places_of_the_dashboard_are_returned_to() -> None:
    assert place_inside("/streams?x=1") == "/streams?x=1"
    assert [place_inside(bad) for bad in ("", "x", "//evil", "/\\evil", "https://evil", "/a\nb")] == [""] * 6
