"""A key is masked so that neither half tells it, and forms of one session do not fit another."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.access import Credential
from lithify.dashboard.browser_sessions import csrf_token, digest_of, is_token, mask_key, new_token
from lithify.dashboard.login_pages import safe_path


@given(st.text(max_size=300))
def test_only_the_same_token_gives_the_text_back(text: str) -> None:
    token = new_token()
    assert mask_key(token, mask_key(token, text.encode())).decode() == text


def test_what_is_kept_shows_nothing_of_the_key() -> None:
    key, token = Credential.new().reveal().encode(), new_token()
    held = mask_key(token, key)
    assert len(held) == len(key)
    assert held[:3] != key[:3]
    assert mask_key(new_token(), held) != key


def test_tokens_differ_and_lead_neither_to_their_digest_nor_to_their_csrf_token() -> None:
    token, other = new_token(), new_token()
    assert is_token(token)
    assert not is_token(token.upper() + "!")
    assert len({token, other, digest_of(token), csrf_token(token), csrf_token(other)}) == 5


def test_only_places_of_the_dashboard_are_returned_to() -> None:
    assert safe_path("/streams?x=1") == "/streams?x=1"
    assert [safe_path(bad) for bad in ("", "x", "//evil", "/\\evil", "https://evil", "/a\nb")] == [""] * 6
