"""`lithify up`, `serve` and `worker`: the processes, and what a newcomer may try next."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lithify.cli.console import talk
from lithify.errors import Invalid
from lithify.node.jobs import MAINTENANCE, QUEUES
from lithify.node.privacy import restrict_data, restrict_new_files
from lithify.node.processes import SERVICES, run_jobs, run_node, run_worker
from lithify.node.runtime import run
from lithify.node.workers import OWN_PROCESSES
from lithify.settings import Settings, load_settings, unknown_variables
from lithify.telemetry import configure_logs

TURN = (
    '{"event_id":"t1","user":"ada","session":"s1","role":"user","text":"I moved to Lisbon in May and love the trams."}'
)
QUESTION = '{"user":"ada","query":"Where does Ada live?"}'
PROMPT = '{"user":"ada","session":"s2","query":"Where does Ada live?","token_budget":1000}'


Host = Annotated[str | None, typer.Option(help="Address to listen on (LITHIFY_HOST).")]
Port = Annotated[int | None, typer.Option(help="Port to listen on (LITHIFY_PORT).")]
# Made from the tables of what there is to run, whose rows mypy cannot know.
Service = StrEnum("Service", {name: name for name in SERVICES})  # type: ignore[misc]
Worker = StrEnum("Worker", {name: name for name in OWN_PROCESSES})  # type: ignore[misc]


def up(
    host: Host = None,
    port: Port = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of all data (LITHIFY_DATA_DIR).")] = None,
) -> None:
    """Run the whole system in this process, on embedded parts unless the settings name remote ones."""
    settings = prepare(host=host, port=port, data_dir=data_dir)
    restrict_data(settings)
    talk.print("Lithify is starting…")
    run(run_node(settings, lambda model: welcome(settings, model)))
    talk.print("Lithify has stopped; everything accepted is on disk.")


def serve(
    service: Annotated[Service, typer.Argument(help="Which service.")],
    host: Host = None,
    port: Port = None,
) -> None:
    """Run one service by itself, against a Redis and a Qdrant server."""
    settings = prepare(host=host, port=port)
    run(SERVICES[service.value](settings, lambda name: talk.print(f"{name} listens on {address(settings)}")))


def worker(
    kind: Annotated[Worker, typer.Argument(help="Which worker.")],
    name: Annotated[str | None, typer.Option(help="Name of this worker, stable across restarts.")] = None,
) -> None:
    """Run one worker process, against a Redis and a Qdrant server; any number of them share the work."""
    settings = prepare(worker_name=name)
    run(run_worker(kind.value, settings, lambda what: talk.print(f"{what} is reading")))


def jobs(queue: Annotated[str, typer.Argument(help=f"Which queue: {', '.join(QUEUES)}.")] = MAINTENANCE) -> None:
    """Run the background jobs of one queue, against a Redis and a Qdrant server."""
    if queue not in QUEUES:
        raise Invalid(f"no queue is named {queue!r}; there are {', '.join(QUEUES)}")
    settings = prepare()
    run(run_jobs(settings, queue, lambda what: talk.print(f"{what} is waiting for jobs")))


def prepare(**overrides: Any) -> Settings:
    settings = load_settings(**overrides)
    configure_logs(settings.log_level, settings.log_format)
    restrict_new_files()
    for name in unknown_variables(os.environ):
        talk.print(f"lithify: {name} is set but no setting has that name")
    return settings


def address(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def welcome(settings: Settings, model: str) -> None:
    url = address(settings)
    store, queue = settings.qdrant_url or "Qdrant Edge", settings.redis_url or "embedded Redis"
    talk.print(f"Lithify listens on {url}  (dashboard {url}/dashboard, reference {url}/docs)")
    talk.print(f"Data in {settings.data_dir}: {queue}, {store}, model {model}")
    talk.print(try_these(url), markup=False, soft_wrap=True)


def try_these(url: str) -> str:
    calls = ((f"{url}/v1/turns?wait=searchable", TURN), (f"{url}/v1/search", QUESTION), (f"{url}/v1/assemble", PROMPT))
    json = "-H 'content-type: application/json'"
    commands = "\n".join(f"  curl -s '{where}' {json} -d '{body}'" for where, body in calls)
    return f"Try, in another terminal:\n{commands}\nStop with Ctrl-C."
