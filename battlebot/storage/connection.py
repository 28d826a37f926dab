"""The connection to MongoDB, with its repositories and indexes. No queries here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel, MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import ConfigurationError, ConnectionFailure, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from battlebot.config import Settings
from battlebot.errors import SettingError, Unavailable

INDEXES = {
    "bots": [
        # few bots have a url
        IndexModel([("url", ASCENDING)], partialFilterExpression={"url": {"$type": "string"}}),
        IndexModel([("game", ASCENDING), ("date_registered", ASCENDING)]),
        # sparse: bots registered before the field existed have no likeness
        IndexModel([("likeness", ASCENDING)], unique=True, sparse=True),
    ],
    "games": [
        IndexModel([("game", ASCENDING), ("match.seq", DESCENDING)]),
        IndexModel([("game", ASCENDING), ("players", ASCENDING), ("match.seq", DESCENDING)]),
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("match.void", ASCENDING), ("match.seq", DESCENDING)]),
        # few, and counted whenever ratings are brought up to date
        IndexModel([("game", ASCENDING), ("match.seq", ASCENDING)], partialFilterExpression={"match.void": True}),
        # few as well: matches that ended by somebody's fault
        IndexModel(
            [("game", ASCENDING), ("match.fault", ASCENDING), ("match.seq", DESCENDING)],
            partialFilterExpression={"match.fault": {"$in": ["bot", "network", "server"]}},
        ),
    ],
    "contests": [
        IndexModel([("game", ASCENDING), ("name", ASCENDING)], unique=True),
        IndexModel([("state", ASCENDING)]),
        IndexModel([("game", ASCENDING), ("createdAt", DESCENDING), ("_id", DESCENDING)]),
    ],
    "meetings": [
        # The cap of five meetings is this index: inserting a meeting is reserving it.
        IndexModel(
            [("game", ASCENDING), ("contest", ASCENDING), ("pair", ASCENDING), ("n", ASCENDING)],
            unique=True,
            name="one_meeting_a_number",
        ),
        # ordered by time, so that a bot's latest meeting is found without reading the others
        IndexModel(
            [
                ("game", ASCENDING),
                ("contest", ASCENDING),
                ("bots", ASCENDING),
                ("at", ASCENDING),
                ("_id", ASCENDING),
            ]
        ),
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("state", ASCENDING), ("round", ASCENDING)]),
        IndexModel([("state", ASCENDING), ("at", ASCENDING)]),
        # few, and counted whenever somebody asks for a contest's progress
        IndexModel([("game", ASCENDING), ("contest", ASCENDING)], partialFilterExpression={"counts": "void"}),
    ],
    "voids": [
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("bots", ASCENDING)]),
        # few, and asked for with each sweep
        IndexModel([("playing", ASCENDING)], partialFilterExpression={"playing": True}),
    ],
    "standings": [IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("bot_id", ASCENDING)], unique=True)],
    "pairs": [
        IndexModel(
            [("game", ASCENDING), ("contest", ASCENDING), ("bot_id", ASCENDING), ("opponent", ASCENDING)], unique=True
        )
    ],
    "ratings": [
        IndexModel([("game", ASCENDING), ("bot_id", ASCENDING)], unique=True),
        IndexModel([("game", ASCENDING), ("ordinal", DESCENDING), ("bot_id", ASCENDING)]),
        IndexModel([("game", ASCENDING), ("elo", DESCENDING), ("bot_id", ASCENDING)]),
    ],
    "audit": [
        IndexModel(
            [
                ("game", ASCENDING),
                ("contest", ASCENDING),
                ("revision", ASCENDING),
                ("at", ASCENDING),
                ("_id", ASCENDING),
            ]
        )
    ],
    "tokens": [IndexModel([("name", ASCENDING)], unique=True)],
    "turns": [IndexModel([("match", ASCENDING), ("part", ASCENDING)], unique=True)],
}


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


class Storage:
    """The repositories over one MongoDB database. Thread- and greenlet-safe; not to be shared over a fork."""

    def __init__(self, settings: Settings, answer_within_s: float = 10.0) -> None:
        """Connects lazily: a MongoDB that is down is noticed at the first query, as Unavailable.

        `answer_within_s`: seconds a query may take in all, the wait for a reachable primary included.
        Raises SettingError for a malformed URI.
        """
        from battlebot.storage.archive import Archive
        from battlebot.storage.audit import Audit
        from battlebot.storage.bots import Bots
        from battlebot.storage.contests import Contests
        from battlebot.storage.games import Games
        from battlebot.storage.ledger import Ledger
        from battlebot.storage.meetings import Meetings
        from battlebot.storage.players import Players
        from battlebot.storage.ratings import Ratings
        from battlebot.storage.room import Room
        from battlebot.storage.standings import Standings
        from battlebot.storage.tokens import Tokens
        from battlebot.storage.voids import Voids

        timeout_ms = int(answer_within_s * 1000)
        try:
            self.client: MongoClient = MongoClient(
                settings.mongodb_uri,
                serverSelectionTimeoutMS=timeout_ms,
                connectTimeoutMS=timeout_ms,
                timeoutMS=timeout_ms,
                tz_aware=True,
                connect=False,
            )
            self.database = self.client.get_default_database(
                settings.mongodb_database,
                write_concern=WriteConcern("majority", j=True),
                read_concern=ReadConcern("majority"),
            )
        except (ConfigurationError, ValueError) as error:
            raise SettingError(f"MONGODB_URI cannot be used: {type(error).__name__}.") from None
        self.room = Room(self.database, settings.min_free_mb)
        self.bots = Bots(self.database, self.room)
        self.games = Games(self.database)
        self.audit = Audit(self.database)
        self.voids = Voids(self.database)
        self.contests = Contests(self.client, self.database, self.room, self.audit, self.voids)
        self.meetings = Meetings(self.database, self.voids)
        self.standings = Standings(self.database)
        self.tokens = Tokens(self.database)
        self.players = Players(self.database)
        self.ratings = Ratings(self.client, self.database)
        self.archive = Archive(self.client, self.database, self.voids)
        self.ledger = Ledger(self.client, self.database, self.contests, self.voids)

    def ensure_indexes(self) -> None:
        """Creates the indexes that are missing; idempotent. Raises Unavailable."""
        with mongo_errors():
            for collection, models in INDEXES.items():
                self.database[collection].create_indexes(models)

    def ping(self) -> None:
        """Raises Unavailable unless a primary answers."""
        with mongo_errors():
            self.client.admin.command("ping")

    def close(self) -> None:
        """Closes the connections."""
        self.client.close()
