"""The identity of an extraction, so that a document is parsed once and never served stale (spec 06 §6)."""

from hashlib import sha256

from lithify.memory.rulebook.deontic_lexicon import LEXICON_VERSION


def authored_cache_key(raw: bytes, tokenizer_id: str, *, core: bool, lexicon_version: str = LEXICON_VERSION) -> str:
    """Hex digest over the bytes and everything else the tiers and costs depend on, but not the file's name.

    Core status belongs to it because the same bytes fall into other tiers once configuration changes it (X32).
    """
    standing = "core" if core else "standard"
    parts = (tokenizer_id.encode(), lexicon_version.encode(), standing.encode())
    return sha256(b"\x00".join((raw, *parts))).hexdigest()
