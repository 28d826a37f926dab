"""Finished matches in Redis, until they are archived."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import redis

from battlebot.arena.live.calls import decode_match
from battlebot.errors import UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts
from battlebot.referee.match import Match

ENTRY_BYTES = 200  # of an entry of the record, beside what the bot sent
TURNS_RETIRED_S = 10  # how long an archived match's turns are kept: a viewer that follows them may lag behind
RETIRED_S = 60  # how long an archived match stays readable: a bot that comes back too late is told how it ended


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished match as the archive takes it: the match, the number of its end, its recorded turns."""

    match: Match
    seq: int
    turns: list[dict[str, Any]]


class Finished:
    """Every method raises Unavailable."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def begin_archiving(self) -> None:
        """Call before reading the finished list: matches that end afterwards request a new archive run."""
        with redis_errors():
            self._client.delete(keys.ARCHIVE_ASKED)

    def ids(self, limit: int) -> list[str]:
        """Returns the ids of the first `limit` ended matches that are not archived, in the order of their ends."""
        with redis_errors():
            return texts(self._client.zrange(keys.FINISHED, 0, limit - 1))

    def first(self, match_ids: Sequence[str], most_bytes: int) -> list[str]:
        """Returns the first of these, at least one, whose records together have about `most_bytes` at most.

        One that cannot be read is among them like any other, so that it comes to be read, and set aside.
        """
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            for match_id in match_ids:
                pipeline.hget(keys.match(match_id), "doc")
                pipeline.llen(keys.turns(match_id))
            answers = pipeline.execute()
        sizes = (_size(*pair) for pair in zip(answers[::2], answers[1::2], strict=True))
        rest = itertools.takewhile(lambda size: size <= most_bytes, itertools.accumulate(sizes))
        return list(match_ids[: max(1, len(list(rest)))])

    def read(self, match_ids: Sequence[str]) -> list[Ended]:
        """Returns the finished matches with their turns; those whose keys are gone are left out.

        Raises UnreadableMatch if one of them cannot be read, ValueError if a turn of its record cannot.
        """
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            for match_id in match_ids:
                pipeline.hmget(keys.match(match_id), "doc", "seq")
                pipeline.lrange(keys.turns(match_id), 0, -1)
            answers = pipeline.execute()
        found = []
        for (document, seq), turns in zip(answers[::2], answers[1::2], strict=True):
            if document is not None and seq is not None:
                found.append(Ended(decode_match(document), int(seq), [orjson.loads(turn) for turn in turns]))
        return found

    def retire(self, match_ids: Sequence[str]) -> None:
        """Takes archived matches off the finished list and lets their keys expire."""
        if not match_ids:
            return
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            for match_id in match_ids:
                pipeline.expire(keys.match(match_id), RETIRED_S)
                pipeline.expire(keys.turns(match_id), TURNS_RETIRED_S)
            pipeline.zrem(keys.FINISHED, *match_ids)
            pipeline.execute()


def _size(document: bytes | None, turns: int) -> int:
    """Returns about how many bytes a match has: its state, what bots sent, what the server adds to each turn."""
    if document is None:
        return 0
    try:
        sent = sum(seat.recorded_bytes for seat in decode_match(document).seats)
    except UnreadableMatch:
        sent = 0
    return len(document) + turns * ENTRY_BYTES + sent
