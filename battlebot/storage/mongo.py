"""What all repositories need of the driver: its errors as ours, and sessions for transactions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import ConfigurationError, ConnectionFailure, PyMongoError

from battlebot.errors import Unavailable

PASSING_LABELS = ("TransientTransactionError", "RetryableWriteError", "UnknownTransactionCommitResult")


@contextmanager
def mongo_errors() -> Iterator[None]:
    """Turns driver errors about an absent or overloaded MongoDB into Unavailable; others, our own bugs, propagate."""
    try:
        yield
    except PyMongoError as error:
        passing = isinstance(error, ConnectionFailure) or error.timeout
        if passing or any(error.has_error_label(label) for label in PASSING_LABELS):
            raise Unavailable(f"MongoDB does not answer now ({type(error).__name__}).") from error
        raise


@contextmanager
def session_of(client: MongoClient[dict[str, Any]]) -> Iterator[ClientSession]:
    """A session for a transaction. Raises Unavailable like `mongo_errors`.

    A connection that was made while mongod was starting, before it knew of its replica set, never takes sessions, and
    the pool would hand it out again and again: so all connections are given up.
    """
    try:
        with mongo_errors(), client.start_session() as session:
            yield session
    except ConfigurationError as error:
        _give_up_connections(client)
        raise Unavailable("MongoDB does not answer now (it was starting).") from error


def _give_up_connections(client: MongoClient[dict[str, Any]]) -> None:
    # the driver has no public way; closing the client would be final
    for server in client._topology._servers.values():
        server.pool.reset_without_pause()
