"""Live matches as an operator needs to know them: nodes, sweeps, and what is stuck on its way. Read-only."""

from __future__ import annotations

from typing import Any

import redis

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.troubles import failing
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts, time_s


class ArenaInspection:
    """Every method raises Unavailable when Redis does not answer. Ages are by Redis's clock."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._heartbeats = Heartbeats(client)
        self._store = MatchStore(client)

    def nodes(self) -> dict[str, float]:
        """Returns node -> how many seconds ago its last heartbeat was."""
        now_s = time_s(self._client)
        return {node: now_s - beat_s for node, beat_s in self._heartbeats.all().items()}

    def swept(self) -> bool:
        """Returns whether a sweep was made within the last seconds."""
        with redis_errors():
            return bool(self._client.exists(keys.SWEPT))

    def check_sweep(self) -> None:
        """Raises Unavailable, with a sentence, unless a sweep was made lately and could look after every match."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.exists(keys.SWEPT)
            pipeline.hlen(keys.TROUBLES)
            swept, troubles = pipeline.execute()
        if not swept:
            raise Unavailable("No sweep has been made lately: it takes beat and a worker.")
        if troubles:
            raise Unavailable(f"Live matches that the sweep cannot look after: {troubles}. The worker's log says why.")

    def live(self) -> int:
        """Returns how many matches are being played."""
        with redis_errors():
            return int(self._client.zcard(keys.DEADLINES))

    def overdue(self, for_s: float) -> dict[str, float]:
        """Returns match -> how many seconds it is overdue, for matches overdue by more than `for_s`."""
        now_s = time_s(self._client)
        with redis_errors():
            rows: Any = self._client.zrangebyscore(keys.DEADLINES, "-inf", int((now_s - for_s) * 1000), withscores=True)
        return {match.decode(): now_s - due_ms / 1000 for match, due_ms in rows}

    def troubles(self) -> dict[str, float]:
        """Returns match -> for how many seconds the sweep has not been able to look after it."""
        now_s = time_s(self._client)
        return {match: now_s - since_s for match, (since_s, _) in failing(self._client).items()}

    def present(self, match_ids: list[str]) -> set[str]:
        """Returns those of the matches that Redis holds, live or just ended."""
        return self._store.held(match_ids)

    def finished(self) -> tuple[int, float | None]:
        """Returns how many ended matches wait for the archive, and how many seconds the first has (None: no match)."""
        with redis_errors():
            count = int(self._client.zcard(keys.FINISHED))
            first: Any = self._client.zrange(keys.FINISHED, 0, 0, withscores=True)
        return count, time_s(self._client) - first[0][1] / 1e6 if first else None

    def set_aside(self) -> list[str]:
        """Returns the matches that could not be archived, or not be gone on with."""
        with redis_errors():
            return sorted(texts(self._client.smembers(keys.SET_ASIDE)))
