"""A MongoDB that ends transactions soon, as one on a slow disk does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from battlebot.storage import Storage

LIFETIME = "transactionLifetimeLimitSeconds"
SLOW = {"$where": "sleep(60000) || true"}  # a query that takes longer than that, if there is a document


@contextmanager
def short_lives(storage: Storage) -> Iterator[None]:
    """Has MongoDB end transactions after a second."""
    admin = storage.client.admin
    usual = admin.command("getParameter", 1, **{LIFETIME: 1})[LIFETIME]
    admin.command("setParameter", 1, **{LIFETIME: 1})
    try:
        yield
    finally:
        admin.command("setParameter", 1, **{LIFETIME: usual})
