"""Who holds which name at a door that needs no registration, and who is online there. Knows no match."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import redis

from battlebot.arena.places import node_of
from battlebot.redisio import keys
from battlebot.redisio.connection import held, redis_errors, texts
from battlebot.redisio.scripts import Argument, Script, Scripts
from battlebot.runtime import sharedtime
from battlebot.runtime.batcher import Batcher
from battlebot.runtime.cooperative import cooperatively

CLAIM = Script("battlebot.arena.names", "claim.lua")
CONFIRM = Script("battlebot.arena.names", "confirm.lua")
UNCLAIM = Script("battlebot.arena.names", "unclaim.lua")
HOLD_S = 5.0  # how long a claim waits for an absent Redis


@dataclass(frozen=True, slots=True)
class Holder:
    """A connection `node/number` that holds a name, since `since_ms` (epoch)."""

    name: str
    connection: str
    since_ms: int
    passwordless: bool

    def encode(self) -> bytes:
        """Returns the holder as it is stored in Redis."""
        return orjson.dumps(asdict(self))

    @classmethod
    def decode(cls, document: bytes) -> Holder:
        """Decodes what `encode` wrote; what only a later version writes is left out."""
        known = orjson.loads(document)
        return cls(**{name: known[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a claim found: who held the name before, and the live matches in which the name plays."""

    before: Holder | None
    matches: tuple[str, ...]


class Presence:
    """Every method raises Unavailable when Redis does not answer."""

    def __init__(self, client: redis.Redis, scripts: Scripts | None = None) -> None:
        self._client = client
        self._scripts = scripts or Scripts(client)
        # hundreds may register at one moment: a look takes as long as twenty thousand names, and all connections to
        # Redis would be taken for it
        self._used = Batcher(self._look)

    def claim(self, holder: Holder) -> Claimed:
        """Takes the name, whoever held it; the earlier holder is told by a letter to its node, and by `confirm`."""
        script_keys = [keys.ONLINE, keys.playing(holder.name)]
        arguments: list[Argument] = [holder.name, holder.encode()]
        before, *matches = held(lambda: self._scripts.run(CLAIM, script_keys, arguments), HOLD_S)
        known = Holder.decode(before) if before and before != holder.encode() else None
        if known is not None:
            letter = orjson.dumps({"do": "expel", "connection": known.connection})
            with redis_errors():
                self._client.publish(keys.mailbox(node_of(known.connection)), letter)
        return Claimed(known, tuple(match.decode() for match in matches))

    def confirm(self, holders: Sequence[Holder]) -> list[tuple[bool, str | None]]:
        """Returns for each whether it holds its name, and a live match of that name. Takes names that nobody holds."""
        if not holders:
            return []
        script_keys = [keys.ONLINE, *(keys.playing(holder.name) for holder in holders)]
        arguments = [value for holder in holders for value in (holder.name, holder.encode())]
        answers = self._scripts.run(CONFIRM, script_keys, arguments)
        return [(bool(own), match.decode() or None) for own, match in zip(answers[::2], answers[1::2], strict=True)]

    def give_up(self, *holders: Holder) -> None:
        """Frees the names that these holders still have."""
        arguments = [value for holder in holders for value in (holder.name, holder.encode())]
        self._scripts.run(UNCLAIM, [keys.ONLINE], arguments)

    def drop_dead(self) -> None:
        """Frees the names of nodes that have been found dead; one that lives all the same takes them again."""
        with redis_errors():
            documents: Any = self._client.hvals(keys.ONLINE)
            nodes = set(texts(self._client.zrange(keys.NODES, 0, -1)))
        holders = map(Holder.decode, cooperatively(documents))
        self.give_up(*(holder for holder in holders if node_of(holder.connection) not in nodes))

    def online(self, node_timeout_s: float) -> dict[str, Holder]:
        """Returns name -> who holds it, for nodes with a heartbeat in the last `node_timeout_s` seconds."""
        since_ms = int((sharedtime.now_s() - node_timeout_s) * 1000)
        with redis_errors():
            documents: Any = self._client.hvals(keys.ONLINE)
            nodes = set(texts(self._client.zrangebyscore(keys.NODES, since_ms, "+inf")))
        # there may be as many as connections, and who registers a bot has them all looked at
        holders = [Holder.decode(document) for document in cooperatively(documents)]
        return {holder.name: holder for holder in holders if node_of(holder.connection) in nodes}

    def used_names(self, node_timeout_s: float, name: str) -> Set[str]:
        """Returns the names of those who are online without a password; and `name`, if it has a seat in a live match.

        Its player may be back in a moment. `node_timeout_s` as for `online`.
        """
        used = self._used.ask(node_timeout_s)
        with redis_errors():
            matches = texts(self._client.smembers(keys.playing(name)))
            scores: Any = self._client.zmscore(keys.DEADLINES, matches) if matches else []
        return used if all(score is None for score in scores) else {*used, name}

    def _look(self, timeouts_s: Sequence[float]) -> list[frozenset[str]]:
        """The names of those who are online without a password, for each of `node_timeout_s`."""
        found = {}
        for node_timeout_s in set(timeouts_s):
            holders = cooperatively(self.online(node_timeout_s).values())
            found[node_timeout_s] = frozenset(holder.name for holder in holders if holder.passwordless)
        return [found[node_timeout_s] for node_timeout_s in timeouts_s]
