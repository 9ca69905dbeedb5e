"""Reads and changes what is stored: memories, sessions, authored documents, exports, forgetting, compaction."""
