"""Documents in a folder of this machine: which files count, what they hold, and what has changed since a sync."""
