"""The ingest gateway: validates turns, publishes them to Redis, and answers with receipts. It touches Redis only."""
