"""The whole fit: ingest if need be, ask the store every question, fit and cross-validate."""

import asyncio
from contextlib import AsyncExitStack

from lithify.assembly.retrieval import Retriever
from lithify.evaluation.datasets import Dataset
from lithify.evaluation.fitting.crossing import Fit, fit_across
from lithify.evaluation.fitting.examples import Example, gather_examples
from lithify.evaluation.ingestion import Progress
from lithify.evaluation.run import ensure_ingested, running_node
from lithify.evaluation.workplace import Workplace
from lithify.memory.ranking.profile import Profile
from lithify.node.parts import open_model, open_store
from lithify.settings import Settings


def fit_profile(dataset: Dataset, workplace: Workplace, settings: Settings, base: Profile, progress: Progress) -> Fit:
    """New weights for the signals of `base`; no node may be running on the folder."""
    if not workplace.is_ingested:
        with running_node(workplace, settings) as memory:
            ensure_ingested(memory, dataset, workplace, progress)
    inside = settings.model_copy(update={"data_dir": workplace.data_dir})
    return fit_across(asyncio.run(examples_inside(dataset, inside, base, progress)), base.relevance)


async def examples_inside(dataset: Dataset, settings: Settings, base: Profile, progress: Progress) -> list[Example]:
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        store = await open_store(settings, model.embedder, stack)
        retriever = Retriever(store, model.embedder, model.analyser, model.executor)
        return await gather_examples(retriever, dataset, base, progress)
