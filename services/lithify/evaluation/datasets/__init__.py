"""Conversations with questions, read from the files their authors publish."""

from lithify.evaluation.datasets.benchmarks import BENCHMARKS, BenchmarkName, find_datasets, load_dataset, name_of_path
from lithify.evaluation.datasets.dataset import Conversation, Dataset, DatasetTurn, EvidenceQuestion

__all__ = [
    "BENCHMARKS",
    "BenchmarkName",
    "Conversation",
    "Dataset",
    "DatasetTurn",
    "EvidenceQuestion",
    "find_datasets",
    "load_dataset",
    "name_of_path",
]
