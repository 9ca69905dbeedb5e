"""Turns old turns into summaries without losing anything: clusters, drafts, confidence, commit order (spec 05)."""
