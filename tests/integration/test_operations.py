"""The operators' calls are answered by whichever process listens, and the worker kinds are one table."""

from lithify.cli.serve import Worker
from lithify.node.workers import KINDS, stream_readers
from lithify.settings import Settings
from lithify.streams import keys
from lithify.streams.groups import ARCHIVE, COMPACT, EMBED, GATE, LABELS
from tests.integration.whole_app import gateway_app

OPERATIONS = {
    "/livez",
    "/readyz",
    "/metrics",
    "/v1/status",
    "/v1/overview",
    "/v1/streams",
    "/v1/workers",
    "/v1/jobs",
    "/v1/jobs/{job_id}",
    "/v1/jobs/{job_id}:retry",
    "/v1/dead-letters",
    "/v1/dead-letters:redrive",
    "/v1/keys",
    "/v1/maintenance/backfill",
}


async def test_a_gateway_alone_answers_operators_without_a_dashboard(redis_url: str) -> None:
    async with gateway_app(redis_url) as served, served.client() as http:
        assert {path for _, path in served.routes()} >= OPERATIONS
        for path in ("/livez", "/readyz", "/v1/status", "/v1/overview", "/v1/workers", "/v1/jobs", "/v1/dead-letters"):
            assert (await http.get(path)).status_code == 200, path


def test_every_kind_of_worker_has_a_label_and_those_with_a_process_a_command() -> None:
    assert set(KINDS) == set(LABELS)
    assert [kind.value for kind in Worker] == [EMBED, GATE, ARCHIVE]


def test_streams_keep_what_a_wanted_kind_has_not_read() -> None:
    readers = stream_readers(Settings(partitions=1, archive=False, compact_tokens=0, compact_idle_minutes=0))
    assert readers == {keys.turns(0): {EMBED}, keys.bulk(0): {EMBED}, keys.stored(0): {GATE}}
    readers = stream_readers(Settings(partitions=1, archive=True, compact_tokens=100))
    both = {EMBED, ARCHIVE}
    assert readers == {keys.turns(0): both, keys.bulk(0): both, keys.stored(0): {GATE, COMPACT}}
