"""The settings as a Markdown page, so that the documentation cannot disagree with the code."""

from lithify.settings.model import PREFIX, Settings

HEAD = """# Settings

Every process reads these variables once, at start. A bad value stops it with exit code 3 and one line that names the
setting, the value and what is allowed. This page is made from the code by `make docs`.

| variable | default | meaning |
|---|---|---|
"""


def settings_page() -> str:
    return HEAD + "".join(_row(name) for name in Settings.model_fields)


def _row(name: str) -> str:
    field = Settings.model_fields[name]
    default = "unset" if field.default is None else f"`{field.default}`"
    return f"| `{PREFIX}{name.upper()}` | {default} | {field.description} |\n"


if __name__ == "__main__":
    print(settings_page(), end="")
