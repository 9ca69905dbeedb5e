"""The doctor says what a crash may lose."""

import pytest

from lithify.cli.doctor import check_embedded_redis, loss_window
from lithify.settings import load_settings


@pytest.mark.parametrize(
    ("fsync", "words"), [("always", "loses nothing"), ("everysec", "one second"), ("no", "operating system decides")]
)
def test_each_fsync_policy_has_its_loss_window(fsync: str, words: str) -> None:
    assert fsync in loss_window(fsync)
    assert words in loss_window(fsync)


def test_the_embedded_redis_is_judged_by_the_setting() -> None:
    findings = {f.subject: f for f in check_embedded_redis(load_settings(redis_fsync="always"))}
    assert "fsync always" in findings["redis durability"].detail
