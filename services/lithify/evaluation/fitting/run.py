"""The whole fit: ingest if need be, ask the store every question, fit and cross-validate."""

import asyncio

from lithify.evaluation.datasets import Dataset
from lithify.evaluation.fitting.crossing import Fit, fit_across
from lithify.evaluation.fitting.examples import Example, gather_examples
from lithify.evaluation.ingestion import Progress
from lithify.evaluation.inside import opened
from lithify.evaluation.workplace import Workplace
from lithify.memory.ranking.profile import Profile
from lithify.settings import Settings


def fit_profile(dataset: Dataset, workplace: Workplace, settings: Settings, base: Profile, progress: Progress) -> Fit:
    """New weights for the signals of `base`; no node may be running on the folder."""
    return fit_across(asyncio.run(examples_inside(dataset, workplace, settings, base, progress)), base.relevance)


async def examples_inside(
    dataset: Dataset, workplace: Workplace, settings: Settings, base: Profile, progress: Progress
) -> list[Example]:
    async with opened(dataset, workplace, settings, progress) as memory:
        return await gather_examples(memory.retriever, dataset, base, progress)
