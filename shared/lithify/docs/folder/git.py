"""What git knows about a folder: its commit, and what has changed since an earlier one."""

import subprocess
from pathlib import Path
from typing import Final

from lithify.errors import Invalid

TIMEOUT_S: Final = 60
DIRTY: Final = "+changes"


def current_commit(folder: Path) -> str | None:
    """Returns the commit that is checked out, marked where files differ from it; None outside of a repository."""
    try:
        head = run_git(folder, "rev-parse", "--verify", "HEAD").strip()
        return head + DIRTY if run_git(folder, "status", "--porcelain", "--", ".") else head
    except Invalid:
        return None


def changed_since(folder: Path, revision: str) -> set[str]:
    """Returns the paths under `folder` that differ from the revision or are new since, deleted ones included.

    Raises Invalid if the folder is in no repository or the revision is unknown.
    """
    if revision.startswith("-"):
        raise Invalid(f"since: {revision!r} is no revision")
    differing = run_git(folder, "diff", "--name-only", "--no-renames", "--relative", "-z", revision, "--", ".")
    untracked = run_git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    return {path for path in (differing + untracked).split("\0") if path}


def run_git(folder: Path, *words: str) -> str:
    """Returns what git prints. Raises Invalid, with its complaint, if it fails, is slow or is not installed."""
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT_S)  # noqa: S603 - no shell
    except FileNotFoundError as error:
        raise Invalid("git is not installed; sync without --since") from error
    except subprocess.TimeoutExpired as error:
        raise Invalid(f"git did not answer within {TIMEOUT_S} s in {folder}") from error
    except subprocess.CalledProcessError as error:
        raise Invalid(f"git in {folder}: {error.stderr.decode(errors='replace').strip()}") from error
    return done.stdout.decode(errors="surrogateescape")
