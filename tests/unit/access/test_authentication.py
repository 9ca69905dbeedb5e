"""Without keys a service is reachable from its own machine only."""

import pytest

from lithify.access import require_safe_bind
from lithify.errors import Misconfigured

LOOPBACK = ["127.0.0.1", "127.8.9.1", "::1", "localhost"]
# A name that is not ours may point anywhere, tomorrow elsewhere than today.
ELSEWHERE = ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "example.org", "127.0.0.1.example.org", ""]


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_needs_no_keys(host: str) -> None:
    require_safe_bind(host, keys_exist=False)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_any_other_address_is_refused_without_keys_and_told_the_way_out(host: str) -> None:
    with pytest.raises(Misconfigured, match="lithify keys create"):
        require_safe_bind(host, keys_exist=False)


@pytest.mark.parametrize("host", LOOPBACK + ELSEWHERE)
def test_with_keys_any_address_is_fine(host: str) -> None:
    require_safe_bind(host, keys_exist=True)
