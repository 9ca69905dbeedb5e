"""One part of the system as a process of its own: the product's code, with an artificial cost per batch on demand."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final
from unittest.mock import patch

from lithify.compaction import QUEUE as COMPACTION
from lithify.embedding import Embedder, load_configured_embedder
from lithify.embedding.contract import Health, Vectors
from lithify.embedding.manifest import Manifest
from lithify.errors import Unavailable
from lithify.forgetting.request import POLICY as FORGETTING_POLICY
from lithify.jobs import RunnerSettings
from lithify.jobs.enqueue import Policy
from lithify.node.processes import Announce, require_redis, run_assembly, run_gateway, run_jobs, run_worker
from lithify.settings import Settings, load_settings
from lithify.streams.groups import ARCHIVE, EMBED, GATE
from lithify.telemetry import configure_logs

READY: Final = "ready"
# EX_UNAVAILABLE of sysexits.h: a dependency was away at the start, whoever supervises may try again.
EXIT_UNAVAILABLE: Final = 69
BATCH_SECONDS: Final = "LITHIFY_TEST_BATCH_SECONDS"
# A job that a killed process held comes again within seconds, as its messages do, and not after minutes.
JOB_LEASE_S: Final = 6
UPKEEP_S: Final = 3
JOB_PAUSES_S: Final = (1, 2, 3, 5, 5, 5, 5, 5, 5, 5, 5, 5)


class SlowEmbedder:
    """Embeds, and takes a fixed time for every batch: what a larger model costs, without using up the cores."""

    def __init__(self, inner: Embedder, batch_seconds: float) -> None:
        self._inner = inner
        self._batch_seconds = batch_seconds

    @property
    def manifest(self) -> Manifest:
        return self._inner.manifest

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        due = time.monotonic() + self._batch_seconds
        vectors = self._inner.embed_documents(texts)
        time.sleep(max(0.0, due - time.monotonic()))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        return self._inner.embed_query(text)

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    def health(self) -> Health:
        return self._inner.health()


async def run_embed_worker_on_edge(settings: Settings, announce: Announce) -> None:
    """A single process may as well have the engine inside; the product does that in the node, beside other workers."""
    with patch("lithify.node.processes.require_servers", require_redis):
        await run_worker(EMBED, settings, announce)


async def run_compaction(settings: Settings, announce: Announce) -> None:
    await run_jobs(settings, COMPACTION, announce)


RUN: Final[Mapping[str, Callable[[Settings, Announce], Coroutine[Any, Any, None]]]] = MappingProxyType(
    {
        "gateway": run_gateway,
        "embed": partial(run_worker, EMBED),
        "embed-on-edge": run_embed_worker_on_edge,
        "archive": partial(run_worker, ARCHIVE),
        "gate": partial(run_worker, GATE),
        "compact": run_compaction,
        "assembly": run_assembly,
    }
)


def slowed(load: Callable[..., Embedder], batch_seconds: float) -> Callable[..., Embedder]:
    def load_slow(*args: Any, **options: Any) -> Embedder:
        return SlowEmbedder(load(*args, **options), batch_seconds)

    return load_slow


@contextmanager
def quick_jobs() -> Iterator[None]:
    """Makes jobs as quick to come again as messages are under a short lease."""
    runner = partial(RunnerSettings, lease_s=JOB_LEASE_S, upkeep_s=UPKEEP_S)
    with (
        patch("lithify.node.jobs.RunnerSettings", runner),
        patch("lithify.jobs.enqueue.Policy", partial(Policy, retry_after_s=JOB_PAUSES_S)),
        patch("lithify.forgetting.request.POLICY", replace(FORGETTING_POLICY, retry_after_s=JOB_PAUSES_S)),
    ):
        yield


def say_ready(_what: str) -> None:
    print(READY, flush=True)


def main(part: str) -> None:
    settings = load_settings()
    configure_logs(settings.log_level, settings.log_format)
    cost = float(os.environ.get(BATCH_SECONDS, "0"))
    with quick_jobs(), patch("lithify.node.parts.load_configured_embedder", slowed(load_configured_embedder, cost)):
        asyncio.run(RUN[part](settings, say_ready))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Unavailable as error:
        print(error, file=sys.stderr)
        sys.exit(EXIT_UNAVAILABLE)
