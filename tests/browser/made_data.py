"""A node with something on every page: conversations, a summary, a dead letter, a failed job. All of it is made up."""

import time
from collections.abc import Callable
from typing import Any

import httpx
import redis
from rq.job import JobStatus

from lithify.events import Event, encode_event
from lithify.jobs import Policy, open_queue
from lithify.jobs.enqueue import find, put
from lithify.streams import keys

PATIENCE_S = 120

TALK = (
    ("user", "I moved to Lisbon in May and love the trams."),
    ("assistant", "Lisbon in May sounds lovely. Which line do you ride most?"),
    ("user", "The 28, early in the morning before the tourists come. My sister Marta visits in July."),
    ("assistant", "Then take Marta up to Graça at sunrise."),
    ("user", "Good idea. Please remember that I am allergic to peanuts when you suggest restaurants."),
    ("assistant", "Noted: no peanuts. There is a small grill in Alfama that marks allergens."),
    ("user", "My invoice for the studio is due on the first of each month, always to Oliveira & Filhos."),
    ("assistant", "I will keep that in mind for the first of the month."),
    ("user", "I prefer answers in metric units and without exclamation marks."),
    ("assistant", "Metric it is."),
)
OTHER = (
    ("user", "The nightly export of the warehouse failed again with a timeout."),
    ("assistant", "The last three runs stopped at the same table. Shall I look at its index?"),
    ("user", "Yes. We decided to move the export to two in the morning."),
)
SEARCHED = "Where does Ada live?"


def turns(user: str, session: str, talk: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    started = int(time.time() * 1000) - 3_600_000
    return [
        {
            "event_id": f"{session}-{place}",
            "user": user,
            "session": session,
            "role": role,
            "text": text,
            "ts": started + 45_000 * place,
        }
        for place, (role, text) in enumerate(talk)
    ]


def fill(http: httpx.Client, queue: redis.Redis) -> None:
    """Returns when every turn can be found and the old ones of one session are summarised."""
    for user, session, talk in (("ada", "lisbon", TALK), ("ada", "moving", TALK[4:8]), ("ben", "warehouse", OTHER)):
        http.post("/v1/turns:batch", json={"turns": turns(user, session, talk)}).raise_for_status()
    http.put("/v1/authored/AGENTS.md", json={"text": "# House rules\n\n- Never share an address.\n"}).raise_for_status()
    until(lambda: not http.get("/v1/status").json()["unfinished"])
    http.post("/v1/sessions/lisbon/compact", json={"user": "ada", "force": True}).raise_for_status()
    until(lambda: http.get("/v1/sessions/lisbon/compact", params={"user": "ada"}).json()["status"] == "finished")
    bury(queue, "given-up-1", "Her new studio is in Rua da Rosa.", "the embedder refused the text")
    bury(queue, "given-up-2", "The rehearsal is on Thursday.", "TimeoutError: the store did not answer")
    fail(queue)


def bury(queue: redis.Redis, event_id: str, text: str, reason: str) -> None:
    """As the workers do it when a message was tried often enough."""
    event = Event(event_id, "default", "ada", "lisbon", "user", text, ts=int(time.time() * 1000))
    partition = keys.partition_of("default", "lisbon", 4)
    queue.xadd(
        keys.dead(partition),
        {
            "event": encode_event(event),
            "seq": "99",
            "dead_stream": keys.turns(partition),
            "dead_group": "embed",
            "dead_id": "5-0",
            "dead_reason": reason,
            "dead_attempts": "5",
        },
    )


def fail(queue: redis.Redis) -> None:
    """A job nobody knows fails at once, with a trace."""
    ticket = put(open_queue(queue, "maintenance"), "tidy_up", {}, "made up", Policy())
    until(lambda: (job := find(queue, ticket.job_id)) is not None and job.get_status() == JobStatus.FAILED)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the node did not get there in time"
        time.sleep(0.1)
