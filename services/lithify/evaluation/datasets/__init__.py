"""Conversations with questions, read from the files their authors publish."""

from lithify.evaluation.datasets.loading import load_dataset
from lithify.evaluation.datasets.model import Conversation, Dataset, Question, Turn

__all__ = ["Conversation", "Dataset", "Question", "Turn", "load_dataset"]
