"""What all repositories need of the driver: its errors as ours, and transactions."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pymongo
from dns.exception import DNSException
from pymongo import MongoClient, ReadPreference
from pymongo.client_session import ClientSession
from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    CursorNotFound,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from battlebot.errors import Unavailable, without_traceback

# what is acknowledged outlives an election, whatever MONGODB_URI or the replica set has as its default
DURABLE = WriteConcern("majority", j=True)
LOCAL = ReadConcern("local")

PASSING_LABELS = ("TransientTransactionError", "RetryableWriteError", "UnknownTransactionCommitResult")
# without a label: a mongos that finds no primary, one that does not reach it, a primary that has just been elected, an
# operator's killOp, and the end of a transaction that lasted for longer than MongoDB allows
PASSING_CODES = frozenset({133, 202, 134, 11601, 290})
# outside of transactions: a snapshot that is too old, or older than a collection's indexes
SNAPSHOT_CODES = frozenset({239, 246})
# nor has the write of many documents, or of an index, that was made by a primary which now stops or steps down: whether
# others have it is not known
UNCONFIRMED_CODES = frozenset({91, 189, 11600, 11602})

DUPLICATE_KEY = 11000  # the code of a write that a unique index refuses
REFUSES = "MongoDB refuses the user or the password of MONGODB_URI."
# error codes of a server that will answer as soon as its operator has put something right
REFUSALS = {
    13: "MongoDB does not allow this: the user of MONGODB_URI needs readWrite on its database.",
    18: REFUSES,
    371: "MongoDB takes no writes now: somebody has blocked them (setUserWriteBlockMode).",
    8000: REFUSES,  # Atlas
}
UNKNOWN_ERROR = 8  # then its words begin with the error of its storage engine, or the system's
NO_SPACE = f"{errno.ENOSPC}: "
NO_ROOM = "MongoDB takes no writes now: its disk is full."
FULL = "MongoDB takes no writes now: what Atlas allows it to store is used up."
UNNAMED = "The name server does not say which hosts the name in MONGODB_URI (mongodb+srv://) stands for."

# of a server that was not found, in the driver's words only -> what its operator has to put right
UNFOUND = {
    "server_type: RSGhost": "MongoDB is in no replica set yet: run rs.initiate() on it once.",
    "available for replica set name": "The replicaSet of MONGODB_URI is not the name of MongoDB's replica set.",
}

OF_THE_SYSTEM = re.compile(r"\[(?:Errno -?\d+|SSL: \w+)\] ([^(,\n]*[^(,\s])")
CLOSED = "after close"  # of what the driver says when its client has been closed
WITHIN_S = 10.0  # long enough for conflicts with others' transactions on a busy machine

Answer = TypeVar("Answer")


@contextmanager
def mongo_errors() -> Iterator[None]:
    """Turns driver errors about a MongoDB that is absent, overloaded, not set up or does not admit us into Unavailable.

    Without their tracebacks: the driver's calls hold them in turn, and all that was to be stored. Others, our own bugs,
    propagate.
    """
    try:
        yield
    except PyMongoError as error:
        if (refusal := _refusal(error)) is not None:
            raise Unavailable(refusal) from without_traceback(error)
        # a mongod that has been restarted does not know the cursors of before
        passing = isinstance(error, ConnectionFailure | CursorNotFound) or error.timeout
        passing |= not _codes(error).isdisjoint(PASSING_CODES | SNAPSHOT_CODES | UNCONFIRMED_CODES)
        # work in the background may outlive the connections by a moment, when its process ends
        passing |= isinstance(error, InvalidOperation) and CLOSED in str(error)
        if passing or any(error.has_error_label(label) for label in PASSING_LABELS):
            raise Unavailable(f"MongoDB does not answer now ({_kind(error)}).") from without_traceback(error)
        raise


def _kind(error: PyMongoError) -> str:
    """What the system or the TLS library says of the connection, as the driver quotes it; else the name of the error.

    That of a query which it cuts off, as its monitor finds a hang, is private. Other errors than a connection's may
    quote what was to be written.
    """
    if isinstance(error, ConnectionFailure) and (found := OF_THE_SYSTEM.search(str(error))):
        return found[1]
    name = type(error).__name__
    return "it hangs" if name == "_OperationCancelled" else name


def _codes(error: PyMongoError) -> set[int | None]:
    """What MongoDB says in numbers: of several writes, of each."""
    if not isinstance(error, OperationFailure):
        return set()
    details = error.details or {}
    of_writes = [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]
    return {error.code, *(write["code"] for write in of_writes)}


def _refusal(error: PyMongoError) -> str | None:
    """What an operator has to put right before MongoDB answers; None: it may answer by itself."""
    if isinstance(error, OperationFailure):
        if "space quota" in str(error):
            return FULL
        if error.code == UNKNOWN_ERROR and str(error).startswith(NO_SPACE):
            return NO_ROOM
        return next((REFUSALS[code] for code in REFUSALS if code in _codes(error)), None)
    if isinstance(error, ConfigurationError) and isinstance(error.__cause__, DNSException):
        return UNNAMED
    if isinstance(error, ServerSelectionTimeoutError):
        # a server that has refused our user is not tried again for some seconds; why, is in the words only
        found = re.search(r"'code': (\d+)", str(error))
        if found:
            return REFUSALS.get(int(found[1]))
        return next((sentence for words, sentence in UNFOUND.items() if words in str(error)), None)
    return None


def transaction(
    client: MongoClient[dict[str, Any]], work: Callable[[ClientSession], Answer], within_s: float = WITHIN_S
) -> Answer:
    """Does the work in a transaction and commits it, within so many seconds in all.

    After a conflict with another transaction, or an election, `work` is called again. Raises what it raises, and
    Unavailable: the transaction may still have been committed then, if it was the answer to this that did not come.
    """
    # without a deadline the driver would try for two minutes, and all that time nothing else is done here
    with pymongo.timeout(within_s), _session_of(client) as session:
        # else a transaction has those of the client, not those of the database
        return session.with_transaction(work, LOCAL, DURABLE, ReadPreference.PRIMARY)


@contextmanager
def snapshot(client: MongoClient[dict[str, Any]], within_s: float) -> Iterator[ClientSession]:
    """A session that reads as of one moment, for so many seconds. Raises Unavailable like `mongo_errors`.

    For reads that may take longer than MongoDB lets a transaction last. It keeps what was there for five minutes.
    """
    with pymongo.timeout(within_s), _session_of(client, snapshot=True) as session:
        yield session


@contextmanager
def _session_of(client: MongoClient[dict[str, Any]], snapshot: bool = False) -> Iterator[ClientSession]:
    """A session for a transaction, or a snapshot. Raises Unavailable like `mongo_errors`.

    A connection that was made while mongod was starting, before it knew of its replica set, never takes sessions, and
    the pool would hand it out again and again: so all connections are given up.
    """
    try:
        with mongo_errors(), client.start_session(snapshot=snapshot) as session:
            yield session
    except ConfigurationError as error:
        _give_up_connections(client)
        raise Unavailable("MongoDB does not answer now (it was starting).") from error


def _give_up_connections(client: MongoClient[dict[str, Any]]) -> None:
    # the driver has no public way; closing the client would be final
    for server in client._topology._servers.values():
        server.pool.reset_without_pause()
