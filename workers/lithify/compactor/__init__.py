"""The compaction worker turns the old part of a session into few summaries that lead back to every turn."""
