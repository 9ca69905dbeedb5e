"""`lithify up`: the node, and what a newcomer may try next."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from lithify.cli.console import talk
from lithify.node.node import run_node
from lithify.node.parts import Parts
from lithify.settings import load_settings, unknown_variables
from lithify.telemetry import configure_logs

TURN = (
    '{"event_id":"t1","user":"ada","session":"s1","role":"user","text":"I moved to Lisbon in May and love the trams."}'
)
QUESTION = '{"user":"ada","query":"Where does Ada live?"}'
PROMPT = '{"user":"ada","session":"s2","query":"Where does Ada live?","token_budget":1000}'


def up(
    host: Annotated[str | None, typer.Option(help="Address to listen on (LITHIFY_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (LITHIFY_PORT).")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of all data (LITHIFY_DATA_DIR).")] = None,
) -> None:
    """Run the whole system in this process, on embedded parts unless the settings name remote ones."""
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    configure_logs(settings.log_level, settings.log_format)
    for name in unknown_variables(os.environ):
        talk.print(f"lithify: {name} is set but no setting has that name")
    talk.print("Lithify is starting…")
    asyncio.run(run_node(settings, announce))
    talk.print("Lithify has stopped; everything accepted is on disk.")


def announce(parts: Parts) -> None:
    settings = parts.settings
    url = f"http://{settings.host}:{settings.port}"
    store, queue = settings.qdrant_url or "Qdrant Edge", settings.redis_url or "embedded Redis"
    talk.print(f"Lithify listens on {url}  (docs {url}/docs)")
    talk.print(f"Data in {settings.data_dir}: {queue}, {store}, model {parts.embedder.manifest.name}")
    talk.print(try_these(url), markup=False, soft_wrap=True)


def try_these(url: str) -> str:
    calls = ((f"{url}/v1/turns?wait=searchable", TURN), (f"{url}/v1/search", QUESTION), (f"{url}/v1/assemble", PROMPT))
    commands = "\n".join(
        f"  curl -s '{address}' -H 'content-type: application/json' -d '{body}'" for address, body in calls
    )
    return f"Try, in another terminal:\n{commands}\nStop with Ctrl-C."
