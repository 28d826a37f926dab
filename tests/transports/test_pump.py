"""What becomes of a kept session after its match, and of connections that a bot breaks as soon as it has logged in."""

from __future__ import annotations

import time
from typing import Any

import gevent
import orjson
import pytest
from lefttocollector import left_of
from players import login_of, player_of

from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.errors import BadMessage, Unavailable
from battlebot.runtime.lag import Lag
from battlebot.transports import pump as pump_module
from battlebot.transports.connection import Frame, Gone
from battlebot.transports.pump import Pump

NOWHERE: Any = None


def test_a_kept_session_whose_match_ends_while_redis_falls_silent_waits_on() -> None:
    """It is let wait once, at one place, and is not closed: what is left to do is for the lobby's ticks."""
    entered: list[str] = []

    class Lobby:
        def enter(self, player: Player, may_take: bool = True) -> None:
            entered.append(player.bot)
            raise Unavailable("Redis does not answer now.")

    lobby: Any = Lobby()
    pump = Pump(Settings(), NOWHERE, lobby, NOWHERE, Lag())
    player = player_of(login_of("ada", protocol=2, keep=True), NOWHERE, released=pump._released)
    player.release()
    gevent.joinall(list(pump._stays._entering.values()), timeout=5.0, raise_error=True)
    assert entered == ["ada"]


class Broken:
    """A connection whose bot logs in and breaks it at once."""

    address = "192.0.2.1"
    parting = None
    held_up = False

    def __init__(self, bot: str, has_ended: bool = False) -> None:
        self.has_ended = has_ended
        login = {"game": "numberwang", "bot_id": bot, "login_hash": "0" * 64}
        self.frames = [Frame(orjson.dumps(login).decode(), time.monotonic())]
        self.said: list[dict[str, Any]] = []
        self.closed: str | None = None

    def receive(self, timeout_s: float | None) -> Frame:
        if not self.frames:
            raise Gone(clean=False, how="broken")
        return self.frames.pop()

    def send(self, text: str, on_written: Any = None) -> None:
        self.said.append(orjson.loads(text))

    def close(self, closing: Any) -> None:
        self.closed = closing.slug


class Hall:
    """A lobby, an arena and a directory that let everybody in; notes who came into the lobby."""

    def __init__(self) -> None:
        self.entered: list[str] = []

    def check(self, login: Any, salt: str) -> Any:
        return lambda *_: True

    def admit(self, login: Any, address: str) -> None:
        return None

    def enter(self, player: Player, may_take: bool = True) -> None:
        self.entered.append(player.bot)

    def leave(self, player: Player) -> None:
        return None

    def left(self, player: Player, clean: bool, how: str) -> None:
        return None


def test_a_bot_has_no_more_connections_whose_login_is_delayed_than_others() -> None:
    """They would come in one after the other, each broken by then: a match would wait for the bot without end.

    Whoever has too many is told so after the same delay.
    """
    hall: Any = Hall()
    settings = Settings(max_connections_per_bot=2, relogin_free=1, relogin_delay_max_s=0.05)
    pump = Pump(settings, hall, hall, hall, Lag())
    pump.converse(Broken("ada"))  # type: ignore[arg-type]
    assert hall.entered == ["ada"]
    connections = [Broken("ada") for _ in range(6)]
    gevent.joinall([gevent.spawn(pump.converse, one) for one in connections], timeout=5.0, raise_error=True)
    assert hall.entered == ["ada"] * 3
    assert [one.closed for one in connections].count("too-many-connections") == 4
    assert all(one.said[-1]["authentication"] == "OK" for one in connections)


def test_a_connection_too_many_is_not_left_to_the_collector() -> None:
    """It runs seldom in a node, and who has one too many may try again at once."""
    hall: Any = Hall()
    pump = Pump(Settings(max_connections_per_bot=1), hall, hall, hall, Lag())

    def too_many() -> None:
        connection = Broken("ada")
        gevent.spawn(pump.converse, connection).join()
        assert connection.closed == "too-many-connections"

    with pump._per_bot.hold("ada"):
        assert not left_of(Pump.converse, too_many)


def test_a_connection_that_is_broken_while_its_login_is_delayed_takes_no_seat() -> None:
    """Nor does it wait; it counts among those by which later logins are delayed.

    One that is not delayed takes it: if the server has been slow to look it up, its seat has to learn when it came.
    """
    hall: Any = Hall()
    pump = Pump(Settings(relogin_free=2, relogin_delay_max_s=0.1), hall, hall, hall, Lag())
    delays = []
    for _ in range(4):
        pump.converse(Broken("ada", has_ended=True))  # type: ignore[arg-type]
        delays.append(pump._stays._relogin_backoff.delay_s("ada"))
    assert (hall.entered, delays) == (["ada"] * 2, [0.0, 0.05, 0.1, 0.1])


def test_a_login_is_taken_in_turn_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large ones, hundreds at one moment would hold up all bots for seconds. A turn waits for nobody's."""
    taken = list[str]()
    monkeypatch.setattr(pump_module, "in_turn_if_large", taken.append)
    pump = Pump(Settings(), NOWHERE, NOWHERE, NOWHERE, Lag())
    for take in (lambda text: pump._look_up(text, "salt", "192.0.2.1"), lambda text: pump._turn(NOWHERE, text)):
        with pytest.raises((BadMessage, AttributeError)):
            take(Frame("no JSON", time.monotonic()))
    assert taken == ["no JSON"]
