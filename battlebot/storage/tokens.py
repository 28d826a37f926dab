"""The collection `tokens`: who may organise contests. Only a token's hash is kept."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.contests.contest import OPENED_BY_LOGIN
from battlebot.errors import NameTaken
from battlebot.runtime import sharedtime
from battlebot.storage.mongo import mongo_errors

TOKEN_BYTES = 32
LONGEST = 256  # characters of a text that is looked up; a token has 43
USE_NOTED_EVERY = timedelta(minutes=1)
# names that the audit uses for others than organisers
RESERVED = ("clock", "contest", OPENED_BY_LOGIN, "command line")


class Tokens:
    """Documents `{_id: SHA-256 of the token, name, createdAt, expiresAt, lastUsedAt, revokedAt}`.

    A name is never used again, since the audit knows organisers by it. A token is 256 random bits: it cannot be guessed
    from its plain hash, and looking it up in an index does not reveal how close a guess was.
    """

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._tokens = database["tokens"]

    def create(
        self, name: str, expires_at: datetime | None = None, keep: Callable[[str], None] = lambda token: None
    ) -> str:
        """Makes a token and returns it; it cannot be shown again. Raises NameTaken, Unavailable.

        `keep` is called with the token before the token is valid: if it raises, that propagates, and there is no token.
        """
        if name in RESERVED:
            raise NameTaken(f"The name {name!r} is not an organiser's to have.", field="name")
        token = secrets.token_urlsafe(TOKEN_BYTES)
        keep(token)
        document = {
            "_id": _hashed(token),
            "name": name,
            "createdAt": sharedtime.now(),
            "expiresAt": expires_at,
            "lastUsedAt": None,
            "revokedAt": None,
        }
        with mongo_errors():
            try:
                self._tokens.insert_one(document)
            except DuplicateKeyError:
                raise NameTaken(f"There is, or was, a token named {name!r}.", field="name") from None
        return token

    def holder(self, token: str) -> str | None:
        """The name of a valid token, whose use is noted; None for any other. Raises Unavailable."""
        now = sharedtime.now()
        found = self._valid(token, now)
        if found is None:
            return None
        used = found["lastUsedAt"]
        if used is None or now - used >= USE_NOTED_EVERY:
            with mongo_errors():
                self._tokens.update_one({"_id": found["_id"]}, {"$max": {"lastUsedAt": now}})
        return str(found["name"])

    def is_valid(self, token: str) -> bool:
        """Whether somebody may use the token now; this is no use of it. Raises Unavailable."""
        return self._valid(token, sharedtime.now()) is not None

    def _valid(self, token: str, now: datetime) -> dict[str, Any] | None:
        if len(token) > LONGEST:
            return None
        digest = _hashed(token)
        with mongo_errors():
            found = self._tokens.find_one({"_id": digest})
        if found is None or not hmac.compare_digest(found["_id"], digest):
            return None
        expired = found["expiresAt"] is not None and found["expiresAt"] <= now
        return None if expired or found["revokedAt"] is not None else found

    def list(self) -> list[dict[str, Any]]:
        """`[{"name", "createdAt", "expiresAt", "lastUsedAt", "revokedAt"}]`, oldest first. Raises Unavailable."""
        with mongo_errors():
            return list(self._tokens.find({}, {"_id": 0}).sort("createdAt", 1))

    def revoke(self, name: str) -> bool:
        """Revokes a token for good; returns False if there is none of that name. Raises Unavailable."""
        now = sharedtime.now()
        # the time of the first revocation is kept
        mark = [{"$set": {"revokedAt": {"$ifNull": ["$revokedAt", now]}}}]
        with mongo_errors():
            return self._tokens.update_one({"name": name}, mark).matched_count == 1


def _hashed(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
