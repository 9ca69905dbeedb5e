"""The form of a key, what is kept of it, and what it allows."""

import pytest

from lithify.access import ApiKey, Credential, KeyScope


def record(credential: Credential, *scopes: KeyScope, revoked_at: int | None = None) -> ApiKey:
    return ApiKey(credential.id, "acme", "", frozenset(scopes), 1, revoked_at, credential.digest())


def test_a_key_survives_being_written_and_read() -> None:
    credential = Credential.new()
    assert Credential.parse(credential.reveal()) == credential
    assert credential.reveal().startswith(f"lf_{credential.id}_")


def test_a_secret_has_256_bits_and_no_two_are_alike() -> None:
    made = [Credential.new() for _ in range(100)]
    assert {len(bytes.fromhex(credential.secret)) * 8 for credential in made} == {256}
    assert len({credential.secret for credential in made}) == len({credential.id for credential in made}) == 100


@pytest.mark.parametrize("text", ["", "lf", "lf__", "lf_00_11", "x" * 1000, "lf_é_é"])
def test_what_is_no_key_is_not_read_as_one(text: str) -> None:
    assert Credential.parse(text) is None


@pytest.mark.parametrize("change", ["{}\n", " {}", "{}0", "lf_{}"])
def test_a_key_with_something_around_it_is_no_key(change: str) -> None:
    assert Credential.parse(change.format(Credential.new().reveal())) is None


def test_neither_part_prints_the_secret_or_its_digest() -> None:
    credential = Credential.new()
    assert credential.secret not in repr(credential)
    assert credential.digest() not in repr(record(credential, KeyScope.READ))


def test_a_record_recognises_its_own_secret_only() -> None:
    credential = Credential.new()
    other = Credential(credential.id, Credential.new().secret)
    key = record(credential, KeyScope.READ)
    assert key.recognises(credential)
    assert not key.recognises(other)
    assert not record(credential, KeyScope.READ, revoked_at=2).recognises(credential)


@pytest.mark.parametrize(
    ("held", "allowed"),
    [
        (KeyScope.INGEST, {KeyScope.INGEST}),
        (KeyScope.READ, {KeyScope.READ}),
        (KeyScope.ADMIN, set(KeyScope)),
    ],
)
def test_a_scope_allows_itself_and_admin_allows_everything(held: KeyScope, allowed: set[KeyScope]) -> None:
    key = record(Credential.new(), held)
    assert {scope for scope in KeyScope if key.allows(scope)} == allowed
