"""The jobs of the load generator: each is a coroutine function that returns a result."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine
from typing import Any

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.load.player import Player
from bench.load.plies import plies
from bench.load.rules import Rules, rules_of
from bench.load.tally import Tally, Window

Bots = list[dict[str, str]]
Result = dict[str, Any]
Job = Callable[..., Coroutine[Any, Any, Result]]

WARM_UP_S = 1.0
LIMIT_S = 30.0  # for what should take moments, such as all players being seated or gone


class _Echo(WSListener):
    """Sends a message, and again whenever it comes back."""

    def __init__(self, tally: Tally, message: bytes) -> None:
        self._tally, self._message = tally, message
        self.stopped = False
        self._sent_s = 0.0

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._say(transport)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return
        if frame.get_payload_as_bytes() != self._message:
            self._tally.say_wrong("the echo is not what was sent")
        self._tally.turned(time.perf_counter() - self._sent_s)
        if self.stopped:
            transport.disconnect()
        else:
            self._say(transport)

    def _say(self, transport: WSTransport) -> None:
        self._sent_s = time.perf_counter()
        transport.send(WSMsgType.TEXT, self._message)


async def echo(url: str, watch: dict[str, list[int]], seconds: float, connections: int, message: str) -> Result:
    """Ping-pong on each connection; a "turn" is a message that came back."""
    tally = Tally()
    window = Window(tally, watch)
    made = [await ws_connect(lambda: _Echo(tally, message.encode()), url) for _ in range(connections)]
    await asyncio.sleep(WARM_UP_S / 2)
    await window.keep_open(seconds)
    for _, listener in made:
        assert isinstance(listener, _Echo)
        listener.stopped = True
    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(*(transport.wait_disconnected() for transport, _ in made))
    return window.result()


async def matches(
    url: str,
    watch: dict[str, list[int]],
    seconds: float,
    bots: Bots,
    other_url: str | None = None,
    apart: bool = True,
    pause_s: float = 0.0,
) -> Result:
    """Play one endless match per pair of bots; after the window all matches are ended.

    With `other_url` the second bot of each match connects to that node; unless `apart`: then both bots of every second
    match do. Bots pause before each turn, for `pause_s` on average.
    """
    tally, rules = Tally(), rules_of(bots[0]["game"])
    window = Window(tally, watch)
    players = [Player(tally, rules, bot) for bot in bots]
    for number, player in enumerate(players):
        player.pause_s = pause_s
        at_other = number % 2 if apart else number // 2 % 2
        await player.connect(other_url if other_url is not None and at_other else url)
        if other_url is not None and number % 2:
            # with two nodes a later bot could be seated first
            await _all(tally, "seated", players[number - 1 : number + 1])
    await _all(tally, "seated", players)
    await asyncio.sleep(WARM_UP_S)
    await window.keep_open(seconds)
    rules.ending = True
    await _all(tally, "gone", players)
    return window.result()


async def games(
    url: str,
    watch: dict[str, list[int]],
    seconds: float,
    bots: Bots,
    contest: str | None = None,
    keep: bool = False,
    rounds: int | None = None,
) -> Result:
    """Play match after match, each with its own connection and login unless `keep`; `rounds` per bot, or endlessly."""
    tally, rules, over = Tally(), rules_of(bots[0]["game"]), asyncio.Event()
    window = Window(tally, watch)
    lives = [_Life(tally, rules, bot, contest, keep, rounds) for bot in bots]
    tasks = [asyncio.create_task(life.live(url, over)) for life in lives]
    if rounds is None:
        await asyncio.sleep(WARM_UP_S)
    all_played = asyncio.Event()
    watcher = asyncio.create_task(_set_after(tasks, all_played))
    await window.keep_open(seconds, all_played)
    finished = all_played.is_set()
    rules.ending = True
    over.set()
    for life in lives:
        life.part()
    _, late = await asyncio.wait(tasks, timeout=LIMIT_S)
    for task in late:
        tally.say_wrong("a bot's connection never ended")
        task.cancel()
    watcher.cancel()
    return {**window.result(), "finished": finished, "rounds": [life.finals for life in lives]}


class _Life:
    """A bot that plays match after match."""

    def __init__(
        self, tally: Tally, rules: Rules, bot: dict[str, str], contest: str | None, keep: bool, rounds: int | None
    ) -> None:
        self._new = lambda: Player(tally, rules, bot, contest, keep)
        self._rounds, self._keep = rounds, keep
        self._player: Player | None = None
        self._over = False
        self._before = 0

    @property
    def finals(self) -> int:
        """The number of matches that it has played to the end."""
        return self._before + (self._player.finals if self._player is not None else 0)

    async def live(self, url: str, over: asyncio.Event) -> None:
        """Play until it has played its `rounds` or `over` is set."""
        while not over.is_set() and (self._rounds is None or self.finals < self._rounds):
            self._before = self.finals
            self._player = self._new()
            await self._player.connect(url)
            if over.is_set():
                self._player.leave()
            if self._keep:
                await self._stay(self._player, over)
            await self._player.gone.wait()

    def part(self) -> None:
        """Close the connection unless it is in a match."""
        if self._player is not None and not self._player.playing:
            self._player.leave()

    async def _stay(self, player: Player, over: asyncio.Event) -> None:
        while not player.gone.is_set() and not over.is_set():
            await asyncio.sleep(0.05)
            if self._rounds is not None and self.finals >= self._rounds:
                break
        while player.playing and not player.gone.is_set():
            await asyncio.sleep(0.05)
        player.leave()


async def logins(
    url: str, watch: dict[str, list[int]], seconds: float, bots: Bots, contest: str, at_once: int
) -> Result:
    """Connect, log in and leave, one bot after another, `at_once` at a time."""
    tally, rules, over = Tally(), rules_of(bots[0]["game"]), asyncio.Event()
    window = Window(tally, watch)
    line = itertools.cycle(bots)

    async def log_in_and_out() -> None:
        while not over.is_set():
            player = Player(tally, rules, next(line), contest)
            await player.connect(url)
            await player.logged_in.wait()
            player.leave()
            await player.gone.wait()

    tasks = [asyncio.create_task(log_in_and_out()) for _ in range(at_once)]
    await asyncio.sleep(WARM_UP_S)
    await window.keep_open(seconds)
    over.set()
    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(*tasks)
    return window.result()


async def idle(url: str, watch: dict[str, list[int]], seconds: float, bots: Bots, contest: str, at_once: int) -> Result:
    """Log all bots in, `at_once` at a time, then wait. The window covers only the wait."""
    tally, rules = Tally(), rules_of(bots[0]["game"])
    window = Window(tally, watch)
    players = [Player(tally, rules, bot, contest) for bot in bots]
    line = iter(players)
    begin_s = time.perf_counter()

    async def log_in() -> None:
        for player in line:
            await player.connect(url)
            await player.logged_in.wait()

    tasks = [asyncio.create_task(log_in()) for _ in range(at_once)]
    await asyncio.gather(*tasks)
    logged_in_s = time.perf_counter() - begin_s
    await window.keep_open(seconds)
    lost = sum(player.gone.is_set() for player in players)
    for player in players:
        player.leave()
    await _all(tally, "gone", players)
    return {**window.result(), "logged_in_s": logged_in_s, "lost": lost}


JOBS: dict[str, Job] = {
    "echo": echo,
    "matches": matches,
    "games": games,
    "logins": logins,
    "idle": idle,
    "plies": plies,
}


async def _all(tally: Tally, what: str, players: list[Player]) -> None:
    """Wait for the event named `what` of all players; report those that take longer than LIMIT_S as wrong."""
    waits = [asyncio.create_task(getattr(player, what).wait()) for player in players]
    _, late = await asyncio.wait(waits, timeout=LIMIT_S)
    for task in late:
        task.cancel()
    if late:
        tally.say_wrong(f"{len(late)} of {len(players)} players were not {what} after {LIMIT_S:g} s")


async def _set_after(tasks: list[asyncio.Task[None]], event: asyncio.Event) -> None:
    await asyncio.gather(*tasks)
    event.set()
