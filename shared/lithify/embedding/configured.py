"""Opens the embedder that the settings describe, in the same way for every process and command."""

from lithify.embedding.contract import Embedder
from lithify.embedding.loader import load_embedder
from lithify.settings import Settings


def load_configured_embedder(settings: Settings, *, threads: int | None = None) -> Embedder:
    """Loads the configured profile and variant; `threads` replaces the configured number of one call.

    Raises Misconfigured, with what to run, if the model is missing or broken.
    """
    return load_embedder(
        settings.models_dir,
        settings.embedding_profile,
        variant=settings.embedding_variant,
        threads=settings.threads if threads is None else threads,
        batch_tokens=settings.embed_batch_tokens,
    )
