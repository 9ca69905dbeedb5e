"""Redis streams that lose nothing: accepting, consuming, trimming, and telling how far behind they are."""

from lithify.streams.connection import open_consumer, open_producer
from lithify.streams.consumer import Consumer, ConsumerSettings, Handler, TooManyDead
from lithify.streams.crash import arm, crash_point
from lithify.streams.delivery import Delivery
from lithify.streams.lag import Lag, read_lag
from lithify.streams.layout import pin_partitions
from lithify.streams.producer import Acceptance, Producer, Retention
from lithify.streams.receipts import Receipts
from lithify.streams.stored import publish_stored
from lithify.streams.tail import read_tail
from lithify.streams.trimmer import dismiss_idle, sweep, trim

__all__ = [
    "Acceptance",
    "Consumer",
    "ConsumerSettings",
    "Delivery",
    "Handler",
    "Lag",
    "Producer",
    "Receipts",
    "Retention",
    "TooManyDead",
    "arm",
    "crash_point",
    "dismiss_idle",
    "open_consumer",
    "open_producer",
    "pin_partitions",
    "publish_stored",
    "read_lag",
    "read_tail",
    "sweep",
    "trim",
]
