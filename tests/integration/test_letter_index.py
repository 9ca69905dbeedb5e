"""Dead letters by tenant: found without a look at those of others, and no more of them than may be kept."""

from redis.asyncio import Redis

from lithify.events import EVERY_TENANT, TenantScope
from lithify.streams import Janitor, LetterIndex, keys
from lithify.streams.janitor import KeptLetters
from lithify.telemetry.metrics import DEAD_LETTERS_DROPPED
from tests.integration.stream_parts import DEAD, MOMENT, PARTITIONS, dead_letters, laid


async def test_a_tenant_reads_its_own_letters_and_none_of_the_others(redis: Redis) -> None:
    """What was buried is read once for the index, whoever asks first; from then on only by its owner."""
    for number in range(200):
        await laid(redis, f"0-{MOMENT + number}-0", tenant="a")
    for number in range(3):
        await laid(redis, f"0-{MOMENT + 1000 + number}-0", tenant="b")
    letters = dead_letters(redis)
    await LetterIndex(redis, 1).catch_up()
    await redis.config_resetstat()

    assert len(await letters.newest(TenantScope("b"), 10)) == 3
    assert len(await letters.ids(TenantScope("b"))) == 3

    # Two looks behind the last letter that is indexed, and three letters twice.
    assert (await redis.info("commandstats"))["cmdstat_xrange"]["calls"] == 2 * (1 + 3)
    assert "cmdstat_xrevrange" not in await redis.info("commandstats")


async def test_letters_buried_before_there_was_an_index_are_listed_and_redriven(redis: Redis) -> None:
    """As a release without the index, or a worker of it beside newer ones, leaves them."""
    await laid(redis, f"0-{MOMENT}-0", tenant="b")
    letters = dead_letters(redis)
    assert len(await letters.ids(TenantScope("b"))) == 1
    await laid(redis, f"0-{MOMENT + 1}-0", tenant="b")
    found = await letters.ids(TenantScope("b"))
    assert len(found) == 2
    assert set((await letters.redrive(TenantScope("b"), found)).values()) == {"redriven"}
    assert await letters.newest(TenantScope("b"), 10) == []
    assert await redis.zcard(keys.letters("b")) == 0


async def test_an_index_that_names_a_letter_that_is_gone_is_mended_by_looking(redis: Redis) -> None:
    await laid(redis, f"0-{MOMENT}-0", tenant="b")
    letters = dead_letters(redis)
    [found] = await letters.ids(TenantScope("b"))
    await redis.xdel(DEAD, str(found.buried))
    assert await letters.ids(TenantScope("b")) == []
    assert await redis.zcard(keys.letters("b")) == 0


async def test_beyond_the_bound_the_oldest_letters_of_that_tenant_go_and_nobody_elses(redis: Redis) -> None:
    before = DEAD_LETTERS_DROPPED._value.get()
    await laid(redis, f"1-{MOMENT - 1}-0", tenant="b")
    await laid(redis, f"1-{MOMENT}-0", event=b"unreadable")
    for number in range(12):
        await laid(redis, f"{number % PARTITIONS}-{MOMENT + 1 + number}-0", tenant="a")
    janitor = Janitor(redis, {}, letters=KeptLetters(LetterIndex(redis, PARTITIONS), most=4))
    letters = dead_letters(redis, PARTITIONS)

    await janitor.sweep()
    await janitor.sweep()

    assert [one.buried.ms - MOMENT for one in await letters.ids(TenantScope("a"))] == [9, 10, 11, 12]
    assert len(await letters.ids(TenantScope("b"))) == 1
    assert len(await letters.ids(EVERY_TENANT)) == 6
    assert janitor.sweepings.dropped == 8
    assert DEAD_LETTERS_DROPPED._value.get() - before == 8


async def test_without_a_bound_all_letters_stay(redis: Redis) -> None:
    for number in range(12):
        await laid(redis, f"0-{MOMENT + number}-0", tenant="a")
    await Janitor(redis, {}, letters=KeptLetters(LetterIndex(redis, 1), most=0)).sweep()
    assert await redis.xlen(DEAD) == 12
