"""Writes summaries in a model's own words, from any T5-style ONNX export on the local disk."""

from lithify.summarising.summariser import Cancelled, OnnxSummariser, load_summariser

__all__ = ["Cancelled", "OnnxSummariser", "load_summariser"]
