"""The waiting queues in Redis: one per game, one per contest. A ticket names a place and the bot that waits there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import redis

from battlebot.arena.places import STATELESS, is_stateless, node_of, place_and_bot, ticket_of
from battlebot.redisio import keys
from battlebot.redisio.connection import of_each, redis_errors, texts
from battlebot.redisio.scripts import Argument, Script, Scripts

WAIT = Script("battlebot.arena.live", "wait.lua")
STILL = Script("battlebot.arena.live", "still.lua")
AGAIN = Script("battlebot.arena.live", "again.lua")
LEAVE = Script("battlebot.arena.live", "leave.lua")
GIVE_BACK = Script("battlebot.arena.live", "giveback.lua")

OFF_MS = 60_000  # how long ago a process that queues a stateless bot may have read that it is available
HELD_MS = 5000  # how long taken tickets are kept from others if the process that took them dies
BY_A_TASK = -1  # instead of a number of others: a task pairs
NOTHING_NEW = (None, False, False)  # `wait_again`'s answer for a ticket that just waits


@dataclass(frozen=True)
class Ticket:
    """A bot that waits at a place, since `since_s` (epoch)."""

    place: str
    bot: str
    since_s: float

    @cached_property
    def text(self) -> str:
        """The ticket as it stands in the queue."""
        return ticket_of(self.place, self.bot)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a bot waits: what it is given before it waits, and what keeps it from waiting.

    - `look_for_seats`: if the bot has empty seats, it is given these.
    - `by_name`: at a door where a name plays one match at a time. If one other is wanted, takes the one that the bot
      has met least recently, a stateless one only if no other waits, and notes it. With `look_for_seats`, a live match
      of the bot's name is a seat for it, empty or held by an earlier connection.
    - `hold_if_playing`: no ticket is made while the bot's newest match is not over.
    - `hold_for`: none is made for the sake of this match, even if it is over.
    """

    look_for_seats: bool = True
    by_name: bool = False
    hold_if_playing: bool = False
    hold_for: str = ""


USUAL = Manner()
NO_SEATS = Manner(look_for_seats=False)


@dataclass(frozen=True, slots=True)
class Seats:
    """The bot has an empty seat in each of these matches."""

    matches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """A match has begun for the ticket."""

    match: str


@dataclass(frozen=True, slots=True)
class Plays:
    """The bot plays this match on another connection, or is held back for it, and does not wait yet."""

    match: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The tickets of these others are held, and the bot's own."""

    others: tuple[Ticket, ...]


@dataclass(frozen=True, slots=True)
class Waits:
    """Nothing is there for the bot. `ask_pairing`: the pairing task must be asked for.

    `left_out`: a ticket was not taken as its node may be dead; look again later.
    """

    ask_pairing: bool = False
    left_out: bool = False


Found = Seats | Begun | Plays | Taken | Waits


class Queues:
    """Every method raises Unavailable when Redis does not answer."""

    def __init__(self, client: redis.Redis, scripts: Scripts | None = None) -> None:
        self._client = client
        self._scripts = scripts or Scripts(client)

    def wait(self, name: str, ticket: Ticket, others: int, manner: Manner = USUAL) -> Found:
        """Takes the tickets of `others` other bots, longest waiting first; if fewer wait, adds the ticket to the queue.

        Taken tickets, including the bot's own, are held for `HELD_MS`: the match must have begun by then. With
        `others` `BY_A_TASK` (a contest) nobody is taken, and the answer says whether to ask for the pairing task. For a
        stateless bot after `switch_off`, no ticket is made and nobody taken.
        """
        script_keys = [
            keys.queue(name),
            keys.QUEUES,
            keys.empty_seats(ticket.bot),
            keys.ticket(ticket.text),
            keys.newest(ticket.bot),
            keys.DEADLINES,
            keys.NODES,
            keys.met(name, ticket.bot),
            keys.playing(ticket.bot),
            keys.asked(f"pair:{name}"),
            keys.lock(f"pair:{name}"),
        ]
        if is_stateless(ticket.place):
            script_keys.append(keys.switched_off(ticket.bot))
        arguments: list[Argument] = [ticket.text, int(ticket.since_s * 1000), ticket.bot, name, others, HELD_MS]
        arguments += [int(manner.look_for_seats), int(manner.by_name), int(manner.hold_if_playing)]
        arguments += [keys.ticket(""), keys.met(name, ""), keys.mailbox(""), manner.hold_for, STATELESS]
        return _found(*self._scripts.run(WAIT, script_keys, arguments))

    def give_back(self, ticket: Ticket, others: Sequence[Ticket]) -> None:
        """Frees the tickets that `wait` has taken for this one, and this one: no match will begin for them."""
        marks = [keys.ticket(one.text) for one in (ticket, *others)]
        self._scripts.run(GIVE_BACK, marks, [ticket.text])

    def wait_again(self, name: str, tickets: Sequence[Ticket]) -> list[tuple[str | None, bool, bool]]:
        """Tells Redis that these still wait; returns for each the match begun for it, and if its bot has an empty seat.

        The third value: whether the ticket was missing and has been put back; bots that came meanwhile missed it.
        """
        if not tickets:
            return []
        # nearly always, there is nothing new
        waits = [name, keys.empty_seats(""), *[ticket.text for ticket in tickets]]
        script_keys = [keys.queue(name), keys.QUEUES]
        if self._scripts.run(STILL, script_keys, waits):
            return [NOTHING_NEW] * len(tickets)
        arguments: list[Argument] = [name]
        for ticket in tickets:
            script_keys += [keys.ticket(ticket.text), keys.empty_seats(ticket.bot)]
            arguments += [ticket.text, int(ticket.since_s * 1000)]
        answers = self._scripts.run(AGAIN, script_keys, arguments)
        rows = zip(answers[::3], answers[1::3], answers[2::3], strict=True)
        return [(match.decode() or None, bool(empty), bool(put_back)) for match, empty, put_back in rows]

    def leave(self, name: str, ticket: Ticket) -> bool:
        """Takes the ticket out of the queue; returns False if it was not there, perhaps taken for a match."""
        return bool(self._scripts.run(LEAVE, [keys.queue(name), keys.QUEUES], [ticket.text, name]))

    def tickets(self, name: str) -> list[Ticket]:
        """Returns all tickets of a queue, longest waiting first."""
        with redis_errors():
            rows: Any = self._client.zrange(keys.queue(name), 0, -1, withscores=True)
        return _tickets(rows)

    def offered(self, name: str) -> list[Ticket]:
        """Like `tickets`, without those of nodes that seem dead: their bots are elsewhere, or gone."""
        tickets = self.tickets(name)
        nodes = sorted({node_of(ticket.place) for ticket in tickets})
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.zrange(keys.NODES, 0, -1)
            pipeline.pubsub_numsub(*map(keys.mailbox, nodes))
            known, readers = pipeline.execute()
        # one without a heartbeat has been swept already, or is no node
        silent = {node for node, (_, count) in zip(nodes, readers, strict=True) if not count}
        away = silent.intersection(texts(known))
        return [ticket for ticket in tickets if node_of(ticket.place) not in away]

    def names(self) -> list[str]:
        """Returns the queues in which somebody waits."""
        with redis_errors():
            return sorted(texts(self._client.smembers(keys.QUEUES)))

    def everybody(self) -> dict[str, list[Ticket]]:
        """Returns queue -> its tickets, of all queues in which somebody waits."""
        names = self.names()
        rows = of_each(
            self._client, names, lambda pipeline, one: pipeline.zrange(keys.queue(one), 0, -1, withscores=True)
        )
        return {name: _tickets(tickets) for name, tickets in zip(names, rows, strict=True)}

    def drop_node(self, node: str) -> None:
        """Takes the tickets of a dead node out of all queues."""
        self._drop(self.names(), lambda ticket: node_of(ticket.place) == node)

    def switch_off(self, game: str, bot: str) -> None:
        """Takes a stateless bot's tickets out of the queues of its game and its contests.

        For `OFF_MS` it gets no others: a process that read earlier that it is available may be about to queue it.
        """
        with redis_errors():
            self._client.set(keys.switched_off(bot), 1, px=OFF_MS)
        names = [name for name in self.names() if keys.game_and_contest(name)[0] == game]
        self._drop(names, lambda ticket: ticket.bot == bot and is_stateless(ticket.place))

    def switch_on(self, bot: str) -> None:
        """Ends `switch_off`: the stateless bot may wait again."""
        with redis_errors():
            self._client.delete(keys.switched_off(bot))

    def _drop(self, names: Sequence[str], is_stale: Callable[[Ticket], bool]) -> None:
        for name in names:
            for ticket in filter(is_stale, self.tickets(name)):
                self.leave(name, ticket)


def _found(kind: bytes, *rest: Any) -> Found:
    """Reads the answer of `wait.lua`."""
    if kind == b"seat":
        return Seats(tuple(match_id.decode() for match_id in rest))
    if kind == b"match":
        return Begun(rest[0].decode())
    if kind == b"hold":
        return Plays(rest[0].decode())
    if kind == b"take":
        return Taken(tuple(_ticket(other.decode(), 0.0) for other in rest))
    return Waits(ask_pairing=bool(rest[0]), left_out=bool(rest[1]))


def _tickets(rows: Iterable[tuple[bytes, float]]) -> list[Ticket]:
    return [_ticket(text.decode(), since_ms / 1000) for text, since_ms in rows]


def _ticket(text: str, since_s: float) -> Ticket:
    place, bot = place_and_bot(text)
    return Ticket(place, bot, since_s)
