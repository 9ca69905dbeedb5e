"""Reads the settings, and turns a bad one into a single line a person can act on."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from lithify.errors import Misconfigured
from lithify.settings.model import PREFIX, Settings

# Read by the test-suites, never by the product.
TEST_PREFIXES = (f"{PREFIX}TEST_", f"{PREFIX}REQUIRE_", f"{PREFIX}NOMIC_")


def load_settings(**overrides: Any) -> Settings:
    """Reads the environment first, then what the command line says. Raises Misconfigured with one readable line."""
    overridden = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**overridden)
    except ValidationError as error:
        raise Misconfigured(explain(error.errors()[0])) from None
    except SettingsError as error:
        raise Misconfigured(explain_json(str(error))) from None


def explain_json(message: str) -> str:
    """Explains a list or table that is no JSON; the library's words name the field between quotation marks."""
    name = message.split('"')[1]
    described = Settings.model_fields[name].description
    return f"setting {PREFIX}{name.upper()} is not JSON. Allowed: {described}"


def explain(detail: ErrorDetails) -> str:
    """Names the setting, the value (never a secret's) and what is allowed."""
    if not detail["loc"]:
        return f"settings: {detail['msg'].removeprefix('Value error, ')}"
    name = str(detail["loc"][0])
    field = Settings.model_fields[name]
    shown = "***" if "Secret" in str(field.annotation) else repr(detail["input"])
    return f"setting {PREFIX}{name.upper()} cannot be {shown}: {detail['msg']}. Allowed: {field.description}"


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Returns variables with our prefix that no setting reads: most likely a typing mistake."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    ours = (name for name in environment if name.upper().startswith(PREFIX))
    return sorted(name for name in ours if name.upper() not in known and not name.upper().startswith(TEST_PREFIXES))
