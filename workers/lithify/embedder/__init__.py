"""The embedding worker: takes accepted turns in batches, embeds them, and writes them where recall can find them."""
