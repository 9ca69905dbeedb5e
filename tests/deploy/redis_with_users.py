"""A real server started from the deployment's own configuration, with the users it describes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from lithify.node.child import start_guarded
from lithify.node.redis_binary import choose_binary
from tests.deploy.checking import DEPLOY, accepted
from tests.integration.node_process import free_port

PASSWORD, WATCH_PASSWORD = "secret1", "secret2"
START_SECONDS = 20


@contextmanager
def redis_with_users(folder: Path, config: str = "redis.conf") -> Iterator[str]:
    """Yields host and port."""
    acl = folder / "users.acl"
    secrets = {"LITHIFY_REDIS_PASSWORD": PASSWORD, "LITHIFY_WATCH_PASSWORD": WATCH_PASSWORD}
    acl.write_text(accepted(DEPLOY / "redis" / "write-acl", **secrets))
    place = f"127.0.0.1:{free_port()}"
    moved = ("--aclfile", acl, "--bind", "127.0.0.1", "--port", place.partition(":")[2])
    command = [str(part) for part in (choose_binary(None).path, DEPLOY / "redis" / config, *moved)]
    with (folder / "log").open("wb") as log:
        server = start_guarded(command, folder / "child.lock", cwd=folder, stdout=log, stderr=log)
    try:
        wait_until_it_answers(place)
        yield place
    finally:
        server.terminate()
        server.wait()
        server.release()


def wait_until_it_answers(place: str) -> None:
    """As the health check of the container asks."""
    deadline = time.monotonic() + START_SECONDS
    with redis.Redis.from_url(f"redis://health:none@{place}/0") as client:
        while True:
            try:
                client.execute_command("PING")
            except redis.ConnectionError:
                assert time.monotonic() < deadline, "the server did not start: its log lies beside its data"
                time.sleep(0.01)
            else:
                return
