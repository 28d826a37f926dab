"""One bot's connection as the arena sees it: its place, its clock, and how to tell it something."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from battlebot.arena.live.turnedaway import Knock, Proof
from battlebot.arena.places import Traits, place_at
from battlebot.runtime.lag import Lag
from battlebot.wire.closing import Closing
from battlebot.wire.updates import contest_over

if TYPE_CHECKING:
    from battlebot.arena.node.tables import Table


class Channel(Protocol):
    """What a door gives the arena. No method blocks or raises; any greenlet may call them."""

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a message; `on_written(monotonic)` is called when it is written to the socket, or should have been."""

    def close(self, closing: Closing) -> None:
        """Closes the connection after the queued messages."""

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the peer does not read."""


class Shown(Protocol):
    """An update to be sent: an `Update`, or the `Mail` that brought one from another node."""

    @property
    def text(self) -> str:
        """The message as JSON."""

    @property
    def revision(self) -> int:
        """The revision of the match that it shows."""

    @property
    def version(self) -> int:
        """The match's version, which an answer would be for."""

    @property
    def question(self) -> int:
        """The version at which the bot was first asked the present question."""

    @property
    def asks(self) -> bool:
        """Whether a turn of the bot is awaited."""

    @property
    def final(self) -> bool:
        """Whether the match is over."""

    @property
    def remaining_s(self) -> float:
        """The seconds left on the bot's clock."""

    @property
    def repeats(self) -> bool:
        """Whether it says only how the match stands: a bot that knows this version learns nothing from it."""


@dataclass(frozen=True, slots=True)
class LetIn:
    """A login that was let in: its bot counts as connected from `came_s` (epoch) on.

    `proves` says which earlier logins were the bot's own; None: its name has no password.
    """

    knock: Knock
    proves: Proof | None
    came_s: float


@dataclass(frozen=True, slots=True)
class Terms:
    """What is the same for all players of a door at a node.

    `lag`: the process's lateness, which is not charged to them. `released(player)` is called when its match is over,
    and no board of its series follows. `unforgiving`: an invalid turn loses at once.
    """

    lag: Lag
    released: Callable[[Player], None]
    unforgiving: bool = False


class Player:
    """A connection that was let in. Each wait has a new `place`, so that letters about an old seat reach nobody.

    `connection` is its name at its node. `traits` are what others must know of it while it waits.
    """

    def __init__(self, let_in: LetIn, channel: Channel, connection: str, terms: Terms, traits: Traits) -> None:
        self.let_in = let_in
        self.let_in_s = time.monotonic()
        self.login = login = let_in.knock.login
        self.traits = traits
        self.unforgiving = terms.unforgiving
        self._lag = terms.lag
        self._released = terms.released
        self._lag_at_asking_s = 0.0
        self.channel = channel
        self.table: Table | None = None
        self.place = ""
        self.waiting_since_s = 0.0
        self.finished_matches = 0
        self.played_matches = 0  # finished, and not spoilt by the server
        self.was_spoilt = False  # its latest match, by the server
        self.told_over: str | None = None  # how the contest in which it waits is over, as it was last told
        self.finished = ""  # the id of its latest match, whose end it has been told
        self.seen_version = login.version  # of the match that it resumes, until it has been told what it missed
        self.gone = False
        self.barred = False  # its bot has another pass_hash by now: it may play its match, but no further one
        self.sought: str | None = None  # the match for which `Arena.look_for` has posted a letter
        self.watched_until_s: float | None = None
        self._connection = connection
        self._waits = 0
        self.forget_clock()

    @property
    def bot(self) -> str:
        """The bot's id."""
        return self.login.bot_id

    def seen_of(self, match_id: str) -> int | None:
        """Returns the version of a match since which it is to be told what it missed; None: nothing, or no more."""
        return self.seen_version if self.login.resume == match_id else None

    def new_place(self, node: str, now_s: float) -> str:
        """Makes and returns a new place for the next seat; the bot waits for it from `now_s` (epoch) on."""
        self._waits += 1
        self.place = place_at(node, self._connection, self._waits, self.traits)
        self.waiting_since_s = now_s
        return self.place

    def release(self) -> None:
        """Tells the player's door that its match is over."""
        self.told_over = None
        self._released(self)

    def tell_over(self, how: str) -> None:
        """Sends the notice that its contest is over, `for-now` or `for-good`, each once until its next match.

        After `for-good` there is nothing left to say. Protocol 1 knows no notices.
        """
        if self.login.protocol >= 2 and self.login.contest is not None and self.told_over not in (how, "for-good"):
            self.told_over = how
            self.channel.send(contest_over(self.login.contest, how))

    def forget_for_now(self) -> None:
        """Notes that its contest, if it was over `for-now`, goes on: its next end is told."""
        if self.told_over == "for-now":
            self.told_over = None

    def forget_clock(self) -> None:
        """Resets the clock and what the bot was told: nothing is asked of it."""
        self.stop_clock()
        self.remaining_s = 0.0  # what the clock has left as it starts
        self.told = (False, -1)  # the newest update: whether it was the end, and its revision
        self.known_version = -1  # of the match, in the newest update

    def stop_clock(self) -> None:
        """Stops the clock and forgets the question, until the bot is told again."""
        self.asked_version = -1  # at which the open question was put; -1: there is none
        self.asked_s: float | None = None  # since when (monotonic) the clock runs; None: it does not
        self._asking: object | None = None  # a mark of the update that asked: no other's writing starts the clock
        self._stands = False  # paused: the next update has the clock go on

    def pause_clock(self) -> None:
        """Stops the clock until the next update, but keeps the question: the bot need not be asked again."""
        self._stands = self.asked_s is not None
        self.asked_s = None

    def tell(self, shown: Shown, reply: bool = False) -> None:
        """Sends an update, unless the bot was told a newer one, or this very one and it is no `reply`.

        If it asks, the clock starts when it has been written. The clock of an earlier question goes on: neither a
        reply nor another bot's turn in a simultaneous game gives time. No question is put twice, not even by a reply:
        an original client would answer twice, and the second answer would be an invalid turn. Nor is a bot told a
        state again that it knows, unless by a reply or the end.
        """
        # the end counts as newest: Redis may have lost revisions that the bot was told
        now_told = (shown.final, shown.revision)
        if now_told < self.told or (now_told == self.told and not reply):
            return
        known, self.known_version = self.known_version == shown.version, shown.version
        self.told = now_told
        if not shown.asks:
            self.stop_clock()
            if reply or shown.final or not (known and shown.repeats):
                self.channel.send(shown.text)
        elif shown.question == self.asked_version and shown.repeats and known:
            self._go_on(shown)
        elif shown.question == self.asked_version and shown.remaining_s >= self.remaining_s:
            self._go_on(shown)
            self.channel.send(shown.text)
        else:
            self.stop_clock()
            self._asking = asking = object()
            self.asked_version, self.remaining_s = shown.question, shown.remaining_s
            self.channel.send(shown.text, partial(self._start_clock, asking))

    def _go_on(self, shown: Shown) -> None:
        """Resumes the clock of an earlier question, if it was paused."""
        if self._stands:
            self.remaining_s = shown.remaining_s
            self._start_clock(self._asking, time.monotonic())

    def _start_clock(self, asking: object, written_s: float) -> None:
        # meanwhile another question may have been put, or this one withdrawn
        if self._asking is asking and self.asked_s is None:
            self.asked_s, self._lag_at_asking_s, self._stands = written_s, self._lag.total_s(), False
            if self.table is not None:
                self.table.on_clock(self)

    def thinking_s(self, until_s: float | None = None) -> float:
        """Returns the bot's own seconds from its update's writing to `until_s` (monotonic; None: now), 0 if not asked.

        The process's lateness meanwhile is not charged: the turn may have lain unread.
        """
        if self.asked_s is None:
            return 0.0
        passed_s = (time.monotonic() if until_s is None else until_s) - self.asked_s
        return max(0.0, passed_s - (self._lag.total_s() - self._lag_at_asking_s))

    def delayed_s(self, since_s: float, until_s: float) -> float:
        """Returns for how much of the time between two moments (monotonic) the process could not read from the bot."""
        return self._lag.between_s(since_s, until_s)
