"""The dashboard: how the pipeline is, what was given up, and what is remembered, for people with a browser."""
