"""Two agent hosts that share one user's memory; ids of their own make sending safe to repeat."""

import asyncio
import os

from lithify.client import AsyncMemory

URL = os.environ.get("LITHIFY_URL", "http://127.0.0.1:8420")
KEY = os.environ.get("LITHIFY_API_KEY")


async def send_from_phone(memory: AsyncMemory) -> None:
    """Sends a turn twice, as a host does that lost the first reply; the second is told to be a duplicate."""
    for _ in range(2):
        sent = await memory.ingest(
            event_id="phone-1001",
            user="grace",
            session="phone-morning",
            role="user",
            text="My train to Porto leaves at 9:40 on Friday.",
            wait=True,
        )
        print("phone:", sent.status)


async def send_from_desk(memory: AsyncMemory) -> None:
    await memory.ingest(
        event_id="desk-77",
        user="grace",
        session="desk-review",
        role="user",
        text="Please keep answers short, I read them on a small screen.",
        wait=True,
    )


async def main() -> None:
    async with AsyncMemory(URL, api_key=KEY) as memory:
        async with asyncio.TaskGroup() as hosts:
            hosts.create_task(send_from_phone(memory))
            hosts.create_task(send_from_desk(memory))
        found = await memory.search("When does the train leave?", user="grace", limit=1)
        print("found:", found.hits[0].text)


if __name__ == "__main__":
    asyncio.run(main())
