"""`lithify keys`: make, list and revoke API keys, in Redis as the operator or at a service as an administrator."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Protocol, TypeVar

import typer
from pydantic import ValidationError
from rich.table import Table

from lithify.access import ApiKeyRequest, ApiKeyStore
from lithify.cli.console import data, emit_json, format_time, talk
from lithify.cli.service import AsJson, connect
from lithify.client.call import path
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, system_clock
from lithify.node.redis_server import EmbeddedRedis
from lithify.operations.key_schema import describe_issued, describe_key
from lithify.settings import Settings, load_settings
from lithify.streams import open_producer

app = typer.Typer(help="API keys: who may send and read what. The first key closes the service to all who have none.")

ServiceUrl = Annotated[
    str | None,
    typer.Option(help="Service to ask with LITHIFY_API_KEY; unset uses the Redis of this machine where there is one."),
]

T = TypeVar("T")
Row = dict[str, Any]


@app.command()
def create(
    tenant: Annotated[str | None, typer.Option(help="Whose memory the key opens.")] = None,
    scopes: Annotated[str, typer.Option(help="ingest, read, or admin (everything), by commas.")] = "ingest,read",
    name: Annotated[str, typer.Option(help="What people call it, e.g. the host that uses it.")] = "",
    url: ServiceUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, the only time it can be read."""
    row = open_admin(url).create(parse_key_request(tenant, scopes, name))
    if as_json:
        emit_json(row)
        return
    data.print(row["key"], markup=False)
    talk.print(f"key {row['id']} of tenant {row['tenant']}; keep it safe, it is not shown again", markup=False)


@app.command("list")
def list_keys(url: ServiceUrl = None, as_json: AsJson = False) -> None:
    """Show all keys, live and revoked, without their secrets."""
    rows = open_admin(url).rows()
    if as_json:
        emit_json({"keys": rows})
    elif rows:
        data.print(key_table(rows))
    else:
        talk.print("no keys: the service is open to its own machine, and to nobody else")


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `list` shows it.")],
    url: ServiceUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make a key worthless for good; every process refuses it within a second."""
    row = open_admin(url).revoke(key)
    if as_json:
        emit_json(row)
    else:
        talk.print(f"key {row['id']} of tenant {row['tenant']} is revoked", markup=False)


def open_admin(url: str | None) -> "KeyAdmin":
    return choose_admin(load_settings(url=url), by_service=url is not None)


def parse_key_request(tenant: str | None, scopes: str, name: str) -> ApiKeyRequest:
    fields = {"scopes": [scope.strip() for scope in scopes.split(",")], "name": name}
    try:
        return ApiKeyRequest.model_validate(fields if tenant is None else {"tenant": tenant, **fields})
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(f"--{first['loc'][0]}: {first['msg']}") from None


def key_table(rows: list[Row]) -> Table:
    table = Table("id", "tenant", "scopes", "name", "created", "revoked", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        words = (row["id"], row["tenant"], ",".join(row["scopes"]), row["name"])
        times = (format_time(row["created_at"]), format_time(row["revoked_at"]))
        table.add_row(*(word.replace("[", r"\[") for word in words), *times)
    return table


class KeyAdmin(Protocol):
    """Keeps keys as rows of JSON; only the row of a new one has the key itself."""

    def create(self, wanted: ApiKeyRequest) -> Row: ...

    def rows(self) -> list[Row]: ...

    def revoke(self, key_id: str) -> Row: ...


class RedisKeyAdmin:
    """Makes keys of every tenant, also before any service runs: whoever reaches Redis is the operator."""

    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url

    def create(self, wanted: ApiKeyRequest) -> Row:
        return describe_issued(*self._run(lambda store: store.create(wanted))).model_dump(mode="json")

    def rows(self) -> list[Row]:
        return [describe_key(key).model_dump(mode="json") for key in self._run(lambda store: store.all(EVERY_TENANT))]

    def revoke(self, key_id: str) -> Row:
        key = self._run(lambda store: store.revoke(EVERY_TENANT, key_id))
        if key is None:
            raise Invalid(f"there is no key {key_id!r}; `lithify keys list` shows all")
        return describe_key(key).model_dump(mode="json")

    def _run(self, work: Callable[[ApiKeyStore], Awaitable[T]]) -> T:
        async def connect_and_work() -> T:
            async with open_producer(self._redis_url) as redis:
                return await work(ApiKeyStore(redis, system_clock))

        return asyncio.run(connect_and_work())


class ServiceKeyAdmin:
    """Asks a running service, with the rights of `LITHIFY_API_KEY`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def create(self, wanted: ApiKeyRequest) -> Row:
        # A tenant that was not named is the one of the administrator's key.
        row: Row = self._ask("POST", path("keys"), wanted.model_dump(mode="json", exclude_unset=True))
        return row

    def rows(self) -> list[Row]:
        rows: list[Row] = self._ask("GET", path("keys"))["keys"]
        return rows

    def revoke(self, key_id: str) -> Row:
        row: Row = self._ask("DELETE", path("keys", key_id))
        return row

    def _ask(self, method: str, where: str, body: Row | None = None) -> Any:
        # One try: a key whose answer was lost would be made twice.
        with connect(self._settings, tries=1) as service:
            return service.request_json(method, where, body)


def choose_admin(settings: Settings, *, by_service: bool) -> KeyAdmin:
    """Prefers Redis where it can be reached, unless an API key or a service on the command line says otherwise."""
    redis_url = None if by_service or settings.api_key else reachable_redis(settings)
    return ServiceKeyAdmin(settings) if redis_url is None else RedisKeyAdmin(redis_url)


def reachable_redis(settings: Settings) -> str | None:
    """Returns the Redis that is named, else that of a node running in the data folder."""
    folder = settings.data_dir / "redis"
    if settings.redis_url is None and (folder / "redis.sock").exists():
        return EmbeddedRedis(folder).url
    return settings.redis_url
