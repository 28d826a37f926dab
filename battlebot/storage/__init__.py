"""The only owner of MongoDB: one repository per collection, their indexes, and the archive's transaction."""

from battlebot.storage.connection import Storage

__all__ = ["Storage"]
