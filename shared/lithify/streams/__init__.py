"""Redis streams that lose nothing: accepting, consuming, burying, trimming, and telling how far behind they are."""

from lithify.streams.capabilities import Capabilities, probe
from lithify.streams.connection import open_consumer, open_producer, pin_partitions
from lithify.streams.consumer import Consumer, ConsumerSettings, Handler, Probe
from lithify.streams.crash import arm, crash_point
from lithify.streams.dead_letters import DeadLetters
from lithify.streams.delivery import Delivery
from lithify.streams.heartbeat import Heartbeat, keep_beating, read_workers
from lithify.streams.janitor import Janitor, dismiss_idle, trim
from lithify.streams.letter import Letter, LetterId
from lithify.streams.letter_index import LetterIndex
from lithify.streams.pressure import Limits, Pressure, Readings, pressure, read_pressure
from lithify.streams.producer import Acceptance, Producer, Retention, publish_stored
from lithify.streams.progress import Lag, read_lag
from lithify.streams.receipts import Receipts
from lithify.streams.tail import read_tail

__all__ = [
    "Acceptance",
    "Capabilities",
    "Consumer",
    "ConsumerSettings",
    "DeadLetters",
    "Delivery",
    "Handler",
    "Heartbeat",
    "Janitor",
    "Lag",
    "Letter",
    "LetterId",
    "LetterIndex",
    "Limits",
    "Pressure",
    "Probe",
    "Producer",
    "Readings",
    "Receipts",
    "Retention",
    "arm",
    "crash_point",
    "dismiss_idle",
    "keep_beating",
    "open_consumer",
    "open_producer",
    "pin_partitions",
    "pressure",
    "probe",
    "publish_stored",
    "read_lag",
    "read_pressure",
    "read_tail",
    "read_workers",
    "trim",
]
