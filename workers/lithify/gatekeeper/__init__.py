"""The gating worker: looks at every stored user turn and copies what is worth keeping into durable memory."""
