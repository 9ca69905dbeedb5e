"""Which embedding profile a process uses: the named one, or the one that the memories at hand were made with.

The default may change from one version to the next, while vectors of two models cannot be compared. So a node whose
settings name no profile goes on with the one that filled its store, until `lithify reembed` moves the memories.
"""

from collections.abc import Sequence
from typing import Final

from lithify.embedding.configured import find_profile, find_shipped_origin, how_to_get
from lithify.errors import Misconfigured
from lithify.settings import Settings
from lithify.store import CollectionSpec
from lithify.store.memory_record import COLLECTION

NAME: Final = "embedding_profile"


def names_model(settings: Settings) -> bool:
    """Returns whether the operator chose a profile, by a variable or an option."""
    return NAME in settings.model_fields_set


def choose_stored_model(settings: Settings, specs: Sequence[CollectionSpec]) -> Settings:
    """Returns the settings with the profile that made the vectors of these collections, where none is named.

    Raises Misconfigured, with what to run, if that profile is one of Lithify's and not installed.
    """
    stored = next((spec.fingerprint for spec in specs if spec.name == COLLECTION), None)
    if names_model(settings) or stored is None:
        return settings
    found = find_profile(settings.models_dir, settings.embedding_variant, stored)
    if found is not None:
        return settings.model_copy(update={NAME: found})
    origin = find_shipped_origin(stored)
    if origin is None or origin == settings.embedding_profile:
        return settings
    raise Misconfigured(
        f"the memories were made with {origin}, which is not installed: {how_to_get(origin)} to go on with it, "
        "or move them to the default model by `lithify reembed`"
    )


def is_kept(settings: Settings, chosen: Settings) -> bool:
    """Returns whether the chosen profile is another than the settings would give a fresh node."""
    return settings.embedding_profile != chosen.embedding_profile
