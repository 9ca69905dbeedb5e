"""`lithify doctor`: looks at everything that commonly goes wrong, and says what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lithify.cli.console import emit_json
from lithify.cli.doctor import Finding
from lithify.cli.doctor.machine import check_disk, check_model, check_variables, check_vectors, check_versions
from lithify.cli.doctor.redis import check_redis
from lithify.cli.doctor.retrieval import check_profile, check_reserve
from lithify.cli.service import connect
from lithify.errors import LithifyError
from lithify.settings import Settings, load_settings

Check = Callable[[Settings], Iterator[Finding]]


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check the installation and what it talks to; exits 1 when something needs attention."""
    settings = load_settings()
    findings = [finding for check in CHECKS for finding in check(settings)]
    if as_json:
        emit_json([asdict(finding) for finding in findings])
    else:
        Console(highlight=False).print(finding_table(findings))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def finding_table(findings: list[Finding]) -> Table:
    table = Table("", "what", "finding", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.columns[1].no_wrap = True
    for finding in findings:
        table.add_row("ok" if finding.ok else "[bold red]look[/]", finding.subject, escape(finding.detail))
    return table


def check_service(settings: Settings) -> Iterator[Finding]:
    try:
        with connect(settings, tries=1) as service:
            answer = service.status()
    except LithifyError as error:
        yield Finding("service", False, str(error))
        return
    ready = bool(answer["ready"])
    state = "ready" if ready else "not ready: see /readyz"
    yield Finding("service", ready, f"{settings.url}, {state}, {answer['unfinished']} events unfinished")
    if answer["dead_letters"]:
        yield Finding("dead letters", False, f"{answer['dead_letters']}; look at them with `lithify dlq list`")


CHECKS: Final[tuple[Check, ...]] = (
    check_versions,
    check_variables,
    check_disk,
    check_profile,
    check_reserve,
    check_model,
    check_vectors,
    check_redis,
    check_service,
)
