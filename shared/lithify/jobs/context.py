"""Defines what a job works with besides its arguments, and finds and calls its function by name."""

import asyncio
import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Concatenate, Final, Generic, ParamSpec, TypeAlias, TypeVar

from pydantic import JsonValue
from redis import Redis

from lithify.errors import Invalid
from lithify.jobs import keys
from lithify.jobs.connection import in_thread

# As long as a failed job is kept by default, so that one retried by hand resumes, too.
CHECKPOINT_TTL_S: Final = 14 * 86_400

Q = ParamSpec("Q")
T = TypeVar("T")
Parts = TypeVar("Parts")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class JobContext(Generic[Parts]):
    """A job sees its own id and attempt, the `parts` bound to it, and the means to run long work and to resume."""

    job_id: str
    name: str
    attempt: int
    parts: Parts
    executor: Executor
    connection: Redis
    # True once the process is to stop: a long job that can be taken up later ends at the next good place.
    ending: Callable[[], bool] = lambda: False

    def with_parts(self, parts: Other) -> "JobContext[Other]":
        return JobContext(
            job_id=self.job_id,
            name=self.name,
            attempt=self.attempt,
            parts=parts,
            executor=self.executor,
            connection=self.connection,
            ending=self.ending,
        )

    async def checkpoint(self, cursor: JsonValue) -> None:
        """Stores how far the job has come: a later attempt finds it, a new job of the same id does not."""
        value = json.dumps(cursor, allow_nan=False)
        await in_thread(self.connection.set, keys.checkpoint(self.job_id), value, ex=CHECKPOINT_TTL_S)

    async def resume(self) -> JsonValue:
        """Returns the last checkpoint of an earlier attempt; None means from the start."""
        value = await in_thread(self.connection.get, keys.checkpoint(self.job_id))
        return None if value is None else json.loads(value)

    async def offload(self, work: Callable[Q, T], *args: Q.args, **kwargs: Q.kwargs) -> T:
        """Runs work that needs a processor beside the loop; a job must never hold the loop up.

        A cancelled job stops waiting; the thread goes on until `work` returns.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, lambda: work(*args, **kwargs))


JobFunction: TypeAlias = Callable[Concatenate[JobContext[Parts], ...], Awaitable[object]]
"""A job takes the context and its arguments by name, and returns JSON. It may run twice, so it must be idempotent.

It raises Invalid if it can never succeed, Unavailable while a dependency is away, anything else to be tried again."""

Registry: TypeAlias = Mapping[str, JobFunction[None]]
"""The jobs a process can run, by name; `bind_parts` has given each what it works on."""


def bind_parts(function: JobFunction[Parts], parts: Parts) -> JobFunction[None]:
    """Returns the job with the parts it works on, so that one runner can run jobs that need different ones."""

    @functools.wraps(function)
    async def run(context: JobContext[None], **args: JsonValue) -> object:
        return await function(context.with_parts(parts), **args)

    return run


async def perform(registry: Registry, context: JobContext[None], args: Mapping[str, JsonValue]) -> object:
    """Calls the job of the context's name.

    Raises Invalid for an unknown name, for arguments the job does not take and for a result that is not JSON.
    """
    function = registry.get(context.name)
    if function is None:
        raise Invalid(f"no job is named {context.name}; this process knows: {', '.join(sorted(registry)) or 'none'}")
    try:
        inspect.signature(function).bind(context, **args)
    except TypeError as error:
        raise Invalid(f"job {context.name} cannot be called with {sorted(args)}: {error}") from error
    result = await function(context, **args)
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Invalid(f"job {context.name} must return JSON: {error}") from error
    return result
