"""A bad setting is one readable line: the name, the value, what is allowed."""

import pytest

from lithify.errors import Misconfigured
from lithify.settings import Settings, load_settings, unknown_variables


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("LITHIFY_PORT", "abc", "1 to 65535"),
        ("LITHIFY_PORT", "70000", "1 to 65535"),
        ("LITHIFY_REDIS_URL", "localhost:6379", "redis://"),
        ("LITHIFY_QDRANT_URL", "ftp://x", "http://"),
        ("LITHIFY_PARTITIONS", "0", "1 to 1024"),
        ("LITHIFY_REDIS_FSYNC", "never", "everysec"),
        ("LITHIFY_LOG_LEVEL", "loud", "log line"),
    ],
)
def test_a_bad_value_names_setting_value_and_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured) as caught:
        load_settings()
    message = str(caught.value)
    assert name in message
    assert value in message
    assert allowed in message
    assert "\n" not in message


def test_overrides_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITHIFY_PORT", "1111")
    assert load_settings(port=2222).port == 2222
    assert load_settings(port=None).port == 1111


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITHIFY_QDRANT_API_KEY", "hunter2")
    assert "hunter2" not in repr(load_settings())


def test_every_knob_is_documented() -> None:
    assert not [name for name, field in Settings.model_fields.items() if not field.description]


def test_typing_mistakes_are_found() -> None:
    environment = {"LITHIFY_PROT": "1", "LITHIFY_PORT": "1", "LITHIFY_TEST_QDRANT_URL": "x", "HOME": "/"}
    assert unknown_variables(environment) == ["LITHIFY_PROT"]


def test_a_table_that_is_not_json_is_named_with_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITHIFY_DOCS_ROOTS", "/srv/docs")
    with pytest.raises(Misconfigured, match="LITHIFY_DOCS_ROOTS is not JSON"):
        load_settings()


def test_light_is_another_name_of_minilm() -> None:
    assert load_settings(embedding_profile="light").embedding_profile == "all-minilm-l6-v2"
