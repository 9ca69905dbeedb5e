"""Authored documents in the store: written by operators, split into rules and searchable text, watched in a folder."""

from lithify.authored.document import MAX_BYTES, MAX_NODES, AuthoredText, Origin, TooLarge
from lithify.authored.documents import AuthoredDocuments, WrittenDocument
from lithify.authored.folder import FolderWatch
from lithify.authored.library import Reserve, check_startup
from lithify.authored.reader import AuthoredReader, Rule, Rules

__all__ = [
    "MAX_BYTES",
    "MAX_NODES",
    "AuthoredDocuments",
    "AuthoredReader",
    "AuthoredText",
    "FolderWatch",
    "Origin",
    "Reserve",
    "Rule",
    "Rules",
    "TooLarge",
    "WrittenDocument",
    "check_startup",
]
