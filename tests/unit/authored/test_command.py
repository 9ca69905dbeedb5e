"""What `lithify authored put` refuses before it talks to a service."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lithify.cli import authored
from lithify.errors import Invalid


@pytest.mark.parametrize(("content", "reason"), [(None, "cannot be read"), (b"\xff", "not UTF-8")])
def test_a_file_that_is_no_text_is_refused_before_it_is_sent(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "a.md"
    if content is not None:
        file.write_bytes(content)
    refused = CliRunner().invoke(authored.app, ["put", str(file), "--url", "http://127.0.0.1:1"])
    assert isinstance(refused.exception, Invalid)
    assert reason in str(refused.exception)
