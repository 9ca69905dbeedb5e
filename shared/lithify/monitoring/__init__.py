"""Reads how the pipeline is, once for everybody who asks: metrics, status, pages and routes."""
