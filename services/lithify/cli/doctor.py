"""`lithify doctor`: looks at everything that commonly goes wrong, and says what to do about it."""

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import redis
import typer
from rich.table import Table

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json
from lithify.embedding import load_embedder
from lithify.errors import LithifyError
from lithify.node.redis_binary import choose_binary
from lithify.settings import Settings, load_settings, unknown_variables

MIN_FREE_BYTES = 2 * 2**30
OLDEST_REDIS = (6, 2)
TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    ok: bool
    detail: str


Check = Callable[[Settings], Iterator[Finding]]


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check the installation and what it talks to; exits 1 when something needs attention."""
    settings = load_settings()
    findings = [finding for check in CHECKS for finding in check(settings)]
    if as_json:
        emit_json([{"subject": f.subject, "ok": f.ok, "detail": f.detail} for f in findings])
    else:
        data.print(finding_table(findings))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def finding_table(findings: list[Finding]) -> Table:
    table = Table("", "what", "finding", box=None)
    for finding in findings:
        table.add_row("ok" if finding.ok else "[bold red]look[/]", finding.subject, finding.detail.replace("[", r"\["))
    return table


def check_versions(_: Settings) -> Iterator[Finding]:
    yield Finding("versions", True, f"lithify {version('lithify')}, Python {platform.python_version()}")


def check_variables(_: Settings) -> Iterator[Finding]:
    unknown = unknown_variables(os.environ)
    yield Finding(
        "settings", not unknown, f"no such setting: {', '.join(unknown)}" if unknown else "all known and valid"
    )


def check_disk(settings: Settings) -> Iterator[Finding]:
    folder = existing_parent(settings.data_dir)
    if not os.access(folder, os.W_OK):
        yield Finding("data folder", False, f"{folder} is not writable; set LITHIFY_DATA_DIR to one that is")
        return
    free = shutil.disk_usage(folder).free
    enough = free >= MIN_FREE_BYTES
    yield Finding("data folder", enough, f"{settings.data_dir}, {free / 2**30:.1f} GiB free")


def existing_parent(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def check_model(settings: Settings) -> Iterator[Finding]:
    try:
        embedder = load_embedder(
            settings.models_dir, settings.embedding_profile, variant=settings.embedding_variant, threads=1
        )
    except LithifyError as error:
        yield Finding("model", False, str(error))
        return
    health = embedder.health()
    yield Finding(
        "model", health.ready, f"{embedder.manifest.name} ({health.mode}), content {embedder.fingerprint[:12]}"
    )


def check_redis(settings: Settings) -> Iterator[Finding]:
    if settings.redis_url is None:
        yield from check_embedded_redis(settings)
        return
    try:
        with redis.Redis.from_url(settings.redis_url, socket_timeout=TIMEOUT_S) as client:
            yield from check_remote_redis(client)
    except redis.RedisError as error:
        yield Finding("redis", False, f"cannot be reached: {error}")


def check_embedded_redis(settings: Settings) -> Iterator[Finding]:
    try:
        binary = choose_binary(None)
    except LithifyError as error:
        yield Finding("redis", False, str(error))
        return
    number = ".".join(map(str, binary.version))
    yield Finding("redis", True, f"embedded {binary.product} {number}, noeviction")
    yield Finding("redis durability", True, loss_window(settings.redis_fsync))


def check_remote_redis(client: "redis.Redis") -> Iterator[Finding]:
    info = client.info()
    number = str(info["redis_version"])
    recent = tuple(int(part) for part in number.split(".")[:2]) >= OLDEST_REDIS
    yield Finding("redis", recent, f"version {number}" if recent else f"version {number}; 6.2 or newer is needed")
    durable = bool(info["aof_enabled"])
    yield Finding(
        "redis durability", durable, durability(client) if durable else "no append-only file: a crash loses all"
    )
    policy = str(info["maxmemory_policy"])
    yield Finding("redis eviction", policy == "noeviction", f"maxmemory-policy is {policy}, noeviction is needed")


def durability(client: "redis.Redis") -> str:
    return loss_window(str(client.config_get("appendfsync")["appendfsync"]))


def loss_window(fsync: str) -> str:
    loses = {"always": "a crash loses nothing acknowledged", "everysec": "a power failure may lose one second"}
    return f"append-only file, fsync {fsync}: {loses.get(fsync, 'the operating system decides when to write')}"


def check_service(settings: Settings) -> Iterator[Finding]:
    try:
        answer = Api(settings).call("GET", "/v1/status")
    except LithifyError as error:
        yield Finding("service", False, str(error))
        return
    yield Finding("service", answer["ready"], f"{settings.url}, {answer['store']['memories']} memories")


CHECKS: tuple[Check, ...] = (check_versions, check_variables, check_disk, check_model, check_redis, check_service)
