"""Which bots the nodes have turned away lately, through no fault of the bots: known at all nodes.

Most were turned away because nobody could look them up, so that anybody may have used their names. A note therefore
holds what the login was to prove, and a node that has let the bot in, and knows its password by then, judges it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors
from battlebot.redisio.scripts import Script, Scripts
from battlebot.wire.login import Login

NOTE = Script("battlebot.arena.live", "turnedaway.lua")
TRIES_AGAIN_S = 20  # a bot that comes back later than this was not trying all the time
MOST = 100  # attempts that a list remembers, the latest
ANYWHERE = ""  # instead of an address

# by `proves(login_hash, salt)`: whether a login_hash, as the answer to a salt, is that of the bot that has logged in
Proof = Callable[[str, str], bool]


class Row(msgspec.Struct, array_like=True):
    """A note as it is kept, an array; what a later version appends is left out."""

    came_ms: int
    away_ms: int
    game: str
    contest: str | None
    login_hash: str
    salt: str


ROWS = msgspec.json.Decoder(Row)


@dataclass(frozen=True, slots=True)
class Knock:
    """A login at a door, from `address`; `salt` is what its login_hash answers, "" if it has none."""

    login: Login
    address: str = ANYWHERE
    salt: str = ""


class TurnedAwayAnywhere:
    """What counts for a bot that comes back after its door was shut at every node. Every method raises Unavailable.

    Beside it each node remembers whom it has turned away by itself, door shut or not (`turnedawayhere`).

    A note stands in two lists, that of the bot and that of the bot at this address: who fills the first with notes in
    the bot's name from elsewhere pushes none out of the other.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._scripts = Scripts(client)

    def note(self, knock: Knock, came_s: float, away_s: float) -> None:
        """Notes that a login, which came at `came_s` (epoch), was turned away at `away_s`."""
        login = knock.login
        came_ms, away_ms = round(came_s * 1000), round(away_s * 1000)
        row = Row(came_ms, away_ms, login.game, login.contest, login.login_hash, knock.salt)
        self._scripts.run(NOTE, _lists(knock), [msgspec.json.encode(row), MOST, TRIES_AGAIN_S])

    def attempts(self, knock: Knock, proves: Proof | None) -> tuple[tuple[float, float], ...]:
        """Returns when (epoch) logins like this one, which was let in, came and when they were turned away.

        They were the same bot's, for the same game and contest. Those of a bot with a password count only if they prove
        that they knew it; `proves` is None for a name without one.
        """
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            for name in _lists(knock):
                pipeline.lrange(name, 0, -1)
            rows = map(ROWS.decode, set().union(*pipeline.execute()))
        wanted = (knock.login.game, knock.login.contest)
        return tuple(
            (row.came_ms / 1000, row.away_ms / 1000)
            for row in rows
            if (row.game, row.contest) == wanted
            and (not row.login_hash if proves is None else proves(row.login_hash, row.salt))
        )


def _lists(knock: Knock) -> list[str]:
    return [keys.turned_away(knock.login.bot_id, address) for address in (ANYWHERE, knock.address)]
