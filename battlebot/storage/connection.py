"""The connection to MongoDB, with its repositories. No queries here."""

from __future__ import annotations

from typing import Any

import pymongo
from pymongo import MongoClient, ReadPreference
from pymongo.errors import ConfigurationError, InvalidName
from pymongo.read_concern import ReadConcern
from pymongo.uri_parser import parse_uri

from battlebot.config import Settings
from battlebot.errors import SettingError, Unavailable
from battlebot.storage.archive import Archive
from battlebot.storage.audit import Audit
from battlebot.storage.bots import Bots
from battlebot.storage.contests import Contests
from battlebot.storage.games import Games
from battlebot.storage.indexes import INDEXES
from battlebot.storage.ledger import Ledger
from battlebot.storage.meetings import Meetings
from battlebot.storage.mongo import DURABLE, mongo_errors
from battlebot.storage.players import Players
from battlebot.storage.ratings import Ratings
from battlebot.storage.room import Room
from battlebot.storage.standings import Standings
from battlebot.storage.tokens import Tokens
from battlebot.storage.voids import Voids

PING_WITHIN_S = 2.0  # whoever asks whether a node is ready waits hardly longer
ROUTER = "isdbgrid"  # what a mongos says of itself
FORM = (
    "it must have the form mongodb://user:password@host:27017/database?replicaSet=rs0, with options that its Python "
    "driver knows; other characters than letters and digits in a password are percent-encoded"
)


def check_uri(settings: Settings) -> None:
    """Raises SettingError if MONGODB_URI cannot be used, whatever answers there. Connects to nothing."""
    Storage(settings).close()


class Storage:
    """The repositories over one MongoDB database. Thread- and greenlet-safe; not to be shared over a fork."""

    def __init__(self, settings: Settings, answer_within_s: float = 10.0) -> None:
        """Connects lazily: a MongoDB that is down is noticed at the first query, as Unavailable.

        `answer_within_s`: seconds a query may take in all, the wait for a reachable primary included.
        Raises SettingError for a malformed URI.
        """
        self._settings = settings
        self._answer_within_s = answer_within_s
        try:
            _check_options(settings.mongodb_uri)
            self.client = self._made_client(timeoutMS=int(answer_within_s * 1000))
            self.database = self.client.get_default_database(
                settings.mongodb_database,
                read_preference=ReadPreference.PRIMARY,
                write_concern=DURABLE,
                read_concern=ReadConcern("majority"),
            )
        except OSError as error:
            # a file that an option names
            raise SettingError(f"MONGODB_URI cannot be used: {error.filename}: {error.strerror}.") from None
        except (ConfigurationError, InvalidName, KeyError, TypeError, ValueError) as error:
            raise SettingError(f"MONGODB_URI cannot be used ({type(error).__name__}): {FORM}.") from None
        self.room = Room(self.database, settings.min_free_mb)
        self.bots = Bots(self.database, self.room)
        self.games = Games(self.database)
        self.audit = Audit(self.database)
        self.voids = Voids(self.database)
        self.contests = Contests(self.client, self.database, self.room, self.audit, self.voids)
        self.meetings = Meetings(self.client, self.database, self.voids)
        self.standings = Standings(self.database)
        self.tokens = Tokens(self.database)
        self.players = Players(self.database)
        self.ratings = Ratings(self.client, self.database)
        self.archive = Archive(self.client, self.database, self.voids)
        self.ledger = Ledger(self.client, self.database, self.contests, self.meetings, self.voids)

    def _made_client(self, **timeout: Any) -> MongoClient:
        within_ms = int(self._answer_within_s * 1000)
        return MongoClient(
            self._settings.mongodb_uri,
            serverSelectionTimeoutMS=within_ms,
            connectTimeoutMS=within_ms,
            tz_aware=True,
            connect=False,
            **timeout,
        )

    def ensure_indexes(self) -> None:
        """Creates the indexes that are missing; idempotent. Raises Unavailable, also if that takes long.

        MongoDB goes on making them then, and a later call waits for the same ones.
        """
        # a mongod in no replica set would not take the quorum
        self.ping(self._answer_within_s)
        # told of a time limit, as by timeoutMS, MongoDB would give up an index at its end, each time anew
        patient = self._made_client(timeoutMS=None, socketTimeoutMS=int(self._answer_within_s * 1000))
        with mongo_errors(), patient:
            database = patient.get_database(self.database.name, write_concern=DURABLE)
            for collection, models in INDEXES.items():
                # by default it would wait for all members, and hold everything up while one is away
                database[collection].create_indexes(models, commitQuorum="majority")

    def ping(self, within_s: float = PING_WITHIN_S) -> None:
        """Raises Unavailable unless a primary that takes transactions lets us read, within so many seconds."""
        with mongo_errors(), pymongo.timeout(within_s):
            hello = self.client.admin.command("hello")
            if "setName" not in hello and hello.get("msg") != ROUTER:
                raise Unavailable("MongoDB is in no replica set, without which it has no transactions.")
            if not hello.get("isWritablePrimary"):
                # only with a URI that says directConnection; otherwise the driver looks for a primary
                raise Unavailable("MongoDB takes no writes now: it is not the primary.")
            # anybody may say hello
            self.database["bots"].find_one({}, {"_id": 1})

    def close(self) -> None:
        """Closes the connections."""
        self.client.close()


def _check_options(uri: str) -> None:
    """Raises what the driver raises for an option that it would leave out with a warning, `tls=ture` for example.

    Not of mongodb+srv://, for which it would have to ask the name server.
    """
    if uri.startswith("mongodb://"):
        parse_uri(uri, warn=False)
