"""The node's application inside the test: its routes and workers on a real Redis and Qdrant Edge, without a model."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from redis.asyncio import Redis

from lithify.access import ApiKeyAuthenticator, ApiKeyRequest, ApiKeyStore, KeyScope
from lithify.events import system_clock
from lithify.http import create_app
from lithify.http.origin import KeylessRule
from lithify.node import services
from lithify.node.parts import ProcessParts, RedisParts, open_redis, open_store, open_traces, retrieval_profile
from lithify.node.processes import common_routers, open_node_routers
from lithify.node.runtime import listen, serve
from lithify.node.workers import open_embedding
from lithify.operations.probes import HealthChecks
from lithify.settings import Settings
from lithify.streams.connection import end_tasks
from tests.integration.rebuild_parts import hash_model
from tests.integration.stream_parts import running

HOME = "http://127.0.0.1"
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True, slots=True)
class ServedApp:
    app: FastAPI
    routers: Sequence[APIRouter]
    redis: Redis
    authenticator: ApiKeyAuthenticator

    def routes(self) -> set[tuple[str, str]]:
        """All (method, path) pairs, told or untold in the OpenAPI document; a path parameter is written {name}."""
        mounted = [route for router in self.routers for route in router.routes if isinstance(route, APIRoute)]
        found = {(method, PARAMETER.sub(r"{\1}", route.path)) for route in mounted for method in route.methods or ()}
        paths: Mapping[str, Mapping[str, object]] = self.app.openapi()["paths"]
        return found | {(method.upper(), path) for path, methods in paths.items() for method in methods}

    def client(self, key: str | None = None) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.AsyncClient(transport=transport, base_url=HOME, headers=headers)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """On a real port; yields the address."""
        stop = asyncio.Event()
        with listen("127.0.0.1", 0) as listener:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(serve(self.app, listener, stop))
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
                stop.set()

    async def key(self, tenant: str, *scopes: KeyScope) -> str:
        _, credential = await ApiKeyStore(self.redis, system_clock).create(
            ApiKeyRequest(tenant=tenant, scopes=frozenset(scopes))
        )
        self.authenticator.forget()
        return credential.reveal()


@asynccontextmanager
async def gateway_app(redis_url: str, **more: object) -> AsyncIterator[ServedApp]:
    """The gateway by itself, which needs neither store nor workers."""
    settings = Settings.model_validate({"redis_url": redis_url} | more)
    async with AsyncExitStack() as stack:
        redis = await open_redis(settings, stack)
        back_pressure = services.open_back_pressure(settings, redis)
        authenticator = await services.open_authenticator(settings, redis)
        operations = services.open_operations(settings, redis, HealthChecks(redis.client), tells_levels=False)
        routers = [
            services.open_gateway(settings, redis, back_pressure, authenticator),
            *common_routers(operations, authenticator),
        ]
        yield served_app(settings, redis, routers, authenticator)


@asynccontextmanager
async def whole_app(redis_url: str, folder: Path, **more: object) -> AsyncIterator[ServedApp]:
    """Everything the node answers, with its workers at work."""
    settings = Settings.model_validate({"redis_url": redis_url, "data_dir": folder, "archive": False} | more)
    async with AsyncExitStack() as stack:
        model = hash_model(stack.enter_context(ThreadPoolExecutor(2)))
        redis = await open_redis(settings, stack)
        store = await open_store(settings, model.embedder, stack)
        parts = ProcessParts(
            settings=settings,
            redis=redis,
            store=store,
            profile=retrieval_profile(settings),
            loaded=model,
            traces=open_traces(settings, redis, stack),
        )
        consumers = (await open_embedding(parts, stack)).consumers
        checks = HealthChecks(redis.client, store, model.embedder, consumers)
        back_pressure = services.open_back_pressure(settings, redis)
        authenticator = await services.open_authenticator(settings, redis)
        operations = services.open_operations(settings, redis, checks, tells_levels=False, profile=parts.profile)
        routers, background = await open_node_routers(parts, operations, back_pressure, authenticator)
        tasks = [asyncio.create_task(task) for task in background]
        stack.push_async_callback(end_tasks, tasks)
        async with running(*consumers):
            yield served_app(settings, redis, routers, authenticator)
        # Nobody runs jobs here; those that were asked for would wait for ever.
        async for job in redis.client.scan_iter("rq:*"):
            await redis.client.delete(job)


def served_app(
    settings: Settings, redis: RedisParts, routers: Sequence[APIRouter], authenticator: ApiKeyAuthenticator
) -> ServedApp:
    keyless = KeylessRule.of(authenticator.is_keyless, settings.allowed_hosts)
    app = create_app("test", routers, settings.max_body_bytes, keyless)
    return ServedApp(app, routers, redis.client, authenticator)
