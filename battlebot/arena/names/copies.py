"""Copies of registrations in Redis, so that every node can check the logins of lately seen bots without MongoDB."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors
from battlebot.runtime.cooperative import cooperatively

AT_ONCE = 200  # copies per request
KEPT_S = 30 * 86_400  # since a node last looked the bot up; `Renewals` replaces what has changed


class Row(msgspec.Struct, array_like=True):
    """A copy as it is kept, an array; what a later version appends is left out. `sealed`: in base64."""

    game: str
    sealed: str


ROW = msgspec.json.Decoder(Row)


class Copies:
    """What logins are checked against, sealed as in the collection `bots`. Every method raises Unavailable."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def keep(self, documents: Sequence[Mapping[str, Any]]) -> None:
        """Keeps copies of these documents of the collection `bots`, in one request for up to `AT_ONCE`."""
        for at in cooperatively(range(0, len(documents), AT_ONCE)):
            with redis_errors():
                pipeline = self._client.pipeline(transaction=False)
                for row in documents[at : at + AT_ONCE]:
                    sealed = base64.b64encode(row["sealed_pass_hash"]).decode()
                    kept = msgspec.json.encode(Row(row["game"], sealed))
                    pipeline.set(keys.registration(row["_id"]), kept, ex=KEPT_S)
                pipeline.execute()

    def note_complete(self, until_s: float) -> None:
        """Notes that the copies hold all that was changed until then (epoch)."""
        with redis_errors():
            self._client.set(keys.COPIED, round(until_s * 1000), ex=KEPT_S)

    def complete_until_s(self) -> float | None:
        """Returns until when (epoch) they hold all that was changed; None if there may be none."""
        with redis_errors():
            found: Any = self._client.get(keys.COPIED)
        return None if found is None else int(found) / 1000

    def of(self, bot_ids: Sequence[str]) -> list[dict[str, Any] | None]:
        """Returns `game` and `sealed_pass_hash` of each of these bots, in their order; None where there is no copy."""
        with redis_errors():
            found = self._client.mget([keys.registration(bot_id) for bot_id in bot_ids])
        return [None if row is None else _opened(row) for row in found]


def _opened(row: bytes | str) -> dict[str, Any]:
    kept = ROW.decode(row)
    return {"game": kept.game, "sealed_pass_hash": base64.b64decode(kept.sealed)}
