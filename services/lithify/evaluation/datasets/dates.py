"""Reads the dates of the benchmarks' files; all of them lack a time zone and count as UTC."""

from datetime import UTC, datetime

from lithify.errors import Invalid

FORMATS = (
    "%I:%M %p on %d %B, %Y",  # LoCoMo: 1:56 pm on 8 May, 2023
    "%Y/%m/%d (%a) %H:%M",  # LongMemEval: 2023/05/20 (Sat) 02:21
    "%B-%d-%Y",  # BEAM: March-15-2024
)


def read_date(text: str) -> int:
    """Milliseconds since 1970. Raises Invalid for what neither a benchmark nor ISO 8601 writes."""
    for form in FORMATS:
        try:
            return _milliseconds(datetime.strptime(text.strip(), form))  # noqa: DTZ007 - the zone is set next
        except ValueError:
            continue
    try:
        return _milliseconds(datetime.fromisoformat(text.strip()))
    except ValueError:
        raise Invalid(f"date {text!r} is in no known form, e.g. '1:56 pm on 8 May, 2023' or ISO 8601") from None


def _milliseconds(moment: datetime) -> int:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(zoned.timestamp() * 1000)
