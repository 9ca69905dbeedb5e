"""The ledger chaos test: real processes and servers under load and faults, then a reckoning of every turn."""
