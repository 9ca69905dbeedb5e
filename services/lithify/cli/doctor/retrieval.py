"""The doctor's look at retrieval: which profile runs, and whether the hard rules are known to fit a prompt."""

from collections.abc import Iterator
from typing import Final

from lithify.cli.doctor import Finding
from lithify.errors import Misconfigured
from lithify.node.parts import retrieval_profile
from lithify.settings import Settings

SHORT_DIGEST: Final = 12


def check_profile(settings: Settings) -> Iterator[Finding]:
    """Names the profile by its digest too, as receipts do: a file may have changed since a process read it."""
    try:
        profile = retrieval_profile(settings)
    except Misconfigured as error:
        yield Finding("profile", False, str(error))
        return
    yield Finding("profile", True, f"{profile.name}, digest {profile.digest()[:SHORT_DIGEST]}")


def check_reserve(settings: Settings) -> Iterator[Finding]:
    """Says what is not checked at start without a budget to check it by: nobody else would miss it."""
    if settings.startup_budget is None:
        detail = (
            "not checked at start whether they fit a prompt; "
            "to have it checked, set LITHIFY_STARTUP_BUDGET to the smallest budget hosts ask with"
        )
    else:
        detail = f"checked at start and at every change: they fit a prompt of {settings.startup_budget} tokens"
    yield Finding("hard rules", True, detail)
