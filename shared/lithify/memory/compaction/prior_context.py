"""Gives an abstractive summariser what was said before its cluster, under a small cap (spec 05 §3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lithify.memory.compaction.summary_record import SummaryRecord
from lithify.memory.tokens import estimate_tokens

PRIOR_TOKENS = 96


@dataclass(frozen=True, slots=True)
class PriorContext:
    text: str = ""
    summary_ids: tuple[str, ...] = ()
    tokens: int = 0

    def before(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The texts with this context as a made-up first turn."""
        return (self.text, *texts) if self.text else tuple(texts)


NO_PRIOR = PriorContext()


def prior_context(summaries: Iterable[SummaryRecord], first_ts: float, cap: int = PRIOR_TOKENS) -> PriorContext:
    """Newest first while they fit, skipping those that do not; then in the order of what they cover."""
    # What a summary covers decides, not when it was written (X66).
    earlier = [summary for summary in summaries if summary.lineage.source_ts_max < first_ts]
    earlier.sort(key=lambda summary: (summary.lineage.source_ts_max, summary.id))
    chosen: list[SummaryRecord] = []
    tokens = 0
    for summary in reversed(earlier):
        cost = estimate_tokens(summary.text)
        if tokens + cost <= cap:
            chosen.insert(0, summary)
            tokens += cost
    text = "\n\n".join(summary.text for summary in chosen)
    return PriorContext(text, tuple(summary.id for summary in chosen), tokens)
