"""What a node with the TCP door does every second, over a real Valkey; its players only stand there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, cast

import gevent
import pytest
import redis
from cluster import LIMIT_S
from gevent.event import Event
from players import player_of

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.names.presence import Claimed, Holder, Presence
from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.runtime.lag import Lag
from battlebot.transports import stays, tcp_guests
from battlebot.transports.limits import Rate
from battlebot.transports.tcp import TcpDoor
from battlebot.transports.tcp_guest import Arrival, Guest
from battlebot.transports.tcp_guests import NOTE_ONLINE_S, Guests
from battlebot.wire.closing import RESTARTING, TAKEN_OVER
from battlebot.wire.login import Login

NOWHERE: Any = None
FIRST = Arrival(1, 0.0)


def test_who_is_online_is_noted_by_one_write_for_all(client: redis.Redis) -> None:
    """A MongoDB that hangs is waited for once, not once for each player; the next note comes half a minute later."""
    noted: list[Any] = []

    def hangs(*arguments: Any) -> None:
        noted.append(arguments)
        raise Unavailable("MongoDB does not answer now.")

    guests = Guests(Presence(client), hangs)
    since_ms = int(time.time() * 1000) - 60_000
    for name in ("ada", "bob", "cat"):
        guest = Guest(NOWHERE, Holder(name, f"n1.tcp/{name}", since_ms, True), Rate(1.0), FIRST)
        guests.add(player_of(Login("gomoku", name, ""), guest, name), guest)
    guests.note_online()
    assert noted == [], "not half a minute has passed since the node began"
    guests._noted_s -= NOTE_ONLINE_S
    guests.note_online()
    guests.note_online()
    [[stays]] = noted
    assert [(name, since) for name, since, _ in stays] == [(name, since_ms) for name in ("ada", "bob", "cat")]
    assert all(60.0 <= seconds < 90.0 for _, _, seconds in stays)


def test_a_name_that_is_given_up_as_the_node_confirms_it_is_free(
    client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Redis that has just been started knows no scripts: what was said last may come first."""
    presence = Presence(client)
    guests = Guests(presence, lambda stays: None)
    guest = Guest(NOWHERE, Holder("ada", "n1.tcp/1", 1, True), Rate(1.0), FIRST)
    guest.settled = True
    player = player_of(Login("gomoku", "ada", ""), guest)
    guests.add(player, guest)
    presence.claim(guest.holder)
    confirm = presence.confirm

    def confirmed_late(holders: Sequence[Holder]) -> list[tuple[bool, str | None]]:
        guests.remove(player)
        return confirm(holders)

    monkeypatch.setattr(presence, "confirm", confirmed_late)
    guests.look()
    monkeypatch.setattr(presence, "confirm", confirm)
    guests.look()
    assert client.hkeys(keys.ONLINE) == []


def test_who_is_still_being_let_in_is_not_closed_because_another_holds_its_name(client: redis.Redis) -> None:
    """Its claim, which may wait for those of other connections, takes the name in a moment."""
    presence = Presence(client)
    guests = Guests(presence, lambda stays: None)
    connections = Connection(), Connection()
    for number, connection in enumerate(connections, 1):
        holder = Holder("ada", f"n1.tcp/{number}", number, True)
        guest = Guest(cast(Any, connection), holder, Rate(1.0), Arrival(number, 0.0))
        guests.add(player_of(Login("gomoku", "ada", ""), guest, str(number)), guest)
        guest.settled = number == 1
    presence.claim(Holder("ada", "n2.tcp/1", 3, True))
    guests.look()
    assert [connection.closed for connection in connections] == [[TAKEN_OVER.slug], []]


def test_those_who_claim_one_name_while_redis_hangs_wait_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a client that comes again and again would be turned away later each time."""
    monkeypatch.setattr(tcp_guests, "HOLD_S", 0.05)
    ends = Event()

    class Hangs:
        def claim(self, holder: Holder) -> Claimed:
            ends.wait()
            return Claimed(None, ())

    guests = Guests(cast(Any, Hangs()), NOWHERE)
    first, *others = (
        Guest(NOWHERE, Holder("ada", f"n1.tcp/{number}", 1, True), Rate(1.0), Arrival(number, 0.0))
        for number in range(3)
    )
    claims = gevent.spawn(guests.claim, first)
    gevent.idle()  # it asks Redis
    for waits in [gevent.spawn(guests.claim, guest) for guest in others]:
        with pytest.raises(Unavailable):
            waits.get(timeout=LIMIT_S)
    ends.set()
    assert claims.get(timeout=LIMIT_S) == ()
    assert guests.claim(others[0]) == ()


def test_who_is_sent_away_while_it_waits_for_its_name_takes_it_no_more() -> None:
    """Else it would take it from its own client, which is at another node by then."""
    ends, claimed = Event(), []

    class Hangs:
        def claim(self, holder: Holder) -> Claimed:
            claimed.append(holder.connection)
            ends.wait()
            return Claimed(None, ())

    guests = Guests(cast(Any, Hangs()), NOWHERE)
    first, second = (
        Guest(cast(Any, Connection()), Holder("ada", f"n1.tcp/{number}", 1, True), Rate(1.0), Arrival(number, 0.0))
        for number in range(2)
    )
    claims = [gevent.spawn(guests.claim, guest) for guest in (first, second)]
    gevent.idle()  # one asks Redis, the other waits for it
    second.close(RESTARTING)
    ends.set()
    assert [claim.get(timeout=LIMIT_S) for claim in claims] == [(), None]
    assert claimed == ["n1.tcp/0"]


def test_names_of_nodes_that_have_died_are_freed(client: redis.Redis) -> None:
    """Else those of every player who never comes back would stay for ever."""
    presence = Presence(client)
    Heartbeats(client).send("n1.tcp", time.time(), first=True)
    for name, connection in (("ada", "n1.tcp/1"), ("bob", "dead.tcp/1"), ("cat", "dead.tcp/2")):
        presence.claim(Holder(name, connection, 1, True))
    guests = Guests(presence, lambda stays: None)
    guests._noted_s -= NOTE_ONLINE_S
    guests.note_online()
    assert client.hkeys(keys.ONLINE) == [b"ada"]


@pytest.mark.parametrize(("settled", "waits"), [(True, False), (False, False), (True, True)])
def test_who_has_a_match_and_no_seat_is_given_it_by_the_tick(settings: Settings, settled: bool, waits: bool) -> None:
    """The letter that told of it is lost. Who is still being let in, or waits, is given its seats there."""
    taken: list[tuple[str, str]] = []

    class Boards:
        node = "n1.tcp"

        def look_after(self, match_id: str) -> None:
            taken.append(("looked after", match_id))

        def join(self, player: Player, match_id: str, live: bool = False) -> bool:
            taken.append((player.bot, match_id))
            return True

    class Own:
        def confirm(self, holders: Sequence[Holder]) -> list[tuple[bool, str | None]]:
            return [(True, "m1") for _ in holders]

    boards, names = (cast(Any, one) for one in (Boards(), Own()))
    guests = Guests(names, NOWHERE)
    door = TcpDoor(settings, NOWHERE, guests, NOWHERE, boards, Lag())
    guest = Guest(NOWHERE, Holder("ada", "n1.tcp/1", 1, True), Rate(1.0), FIRST)
    guest.settled, guest.waits = settled, waits
    guests.add(player_of(Login("gomoku", "ada", ""), guest), guest)
    door.tick()
    gevent.sleep(0)
    assert taken == ([("looked after", "m1"), ("ada", "m1")] if settled and not waits else [])


class Lobby:
    """Where players would wait; notes who does."""

    def __init__(self) -> None:
        self.waiting: list[str] = []

    def enter(self, player: Player, may_take: bool = True) -> None:
        self.waiting.append(player.bot)


class Connection:
    """Of a client; notes how it is closed."""

    def __init__(self) -> None:
        self.closed: list[str] = []

    def close(self, last: Any = None, how: str = "") -> None:
        self.closed.append(how if last is None else last.code)


class Names:
    """The registered ones, in a MongoDB that is away at first."""

    def __init__(self) -> None:
        self.away, self.asked, self.taken = True, 0, False

    def registered(self, names: Any) -> bool:
        self.asked += 1
        if self.away:
            raise Unavailable("MongoDB does not answer now.")
        return self.taken


@pytest.mark.parametrize("meanwhile", ["nothing", "a second connection", "a registration"])
def test_who_asks_for_an_opponent_while_mongodb_is_away_waits_if_the_name_is_still_its_own(
    client: redis.Redis, settings: Settings, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """Asking again changes nothing. If another has the name by then, only that one may wait with it."""
    monkeypatch.setattr(stays, "AGAIN_S", 0.01)
    names, lobby, connection = Names(), Lobby(), Connection()
    presence, somewhere, room, directory = Presence(client), *(cast(Any, one) for one in (connection, lobby, names))
    door = TcpDoor(settings, directory, Guests(presence, NOWHERE), room, NOWHERE, Lag())
    guest = Guest(somewhere, Holder("ada", "n1.tcp/1", 1, True), Rate(1.0), FIRST)
    player = player_of(Login("gomoku", "ada", ""), guest)
    presence.claim(guest.holder)
    door._find(player, guest)
    door._find(player, guest)
    while names.asked < 3:
        gevent.sleep(0.01)
    assert (lobby.waiting, connection.closed) == ([], [])
    if meanwhile == "a second connection":
        presence.claim(Holder("ada", "n2.tcp/1", 2, True))
    names.away, names.taken = False, meanwhile == "a registration"
    gevent.joinall(list(door._stays._entering.values()))
    assert lobby.waiting == (["ada"] if meanwhile == "nothing" else [])
    reasons = {"nothing": [], "a second connection": [TAKEN_OVER.slug], "a registration": ["name-taken"]}
    assert connection.closed == reasons[meanwhile]
