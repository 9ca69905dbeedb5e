"""Whether a user turn becomes durable memory: the gating scalar and its signals (spec 04)."""
