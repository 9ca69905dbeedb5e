"""Authored documents in the store: written by operators, split into rules and searchable text, watched in a folder."""

from lithify.authored.document import MAX_BYTES, MAX_NODES, Document, Origin, TooLarge
from lithify.authored.documents import Documents, Written
from lithify.authored.folder_watch import FolderWatch
from lithify.authored.reader import AuthoredReader, Rule, Rules
from lithify.authored.reserve import Reserve, check_startup

__all__ = [
    "MAX_BYTES",
    "MAX_NODES",
    "AuthoredReader",
    "Document",
    "Documents",
    "FolderWatch",
    "Origin",
    "Reserve",
    "Rule",
    "Rules",
    "TooLarge",
    "Written",
    "check_startup",
]
