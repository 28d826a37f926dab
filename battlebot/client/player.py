"""One bot's play: its seat and results, kept across connections, and the conversation over one. Opens no sockets."""

from __future__ import annotations

import logging
import math
import reprlib
import time
from dataclasses import dataclass
from typing import Any

from battlebot.client.bot import Bot, Match, Result, Turn
from battlebot.client.connection import Connection
from battlebot.client.errors import BadTurn, ConnectionLost
from battlebot.client.seat import Action, Seat, Update

log = logging.getLogger("battlebot.client")

QUIET_S = 30.0  # of silence before the SDK pings; after as much again it gives up the connection


@dataclass(frozen=True)
class Plan:
    """How long and in which way to play; the fields are the arguments of `run`."""

    contest: str | None = None
    matches: int | None = None
    protocol: int = 2
    keep: bool = True
    idle_timeout_s: float | None = None


class Player:
    """Plays `plan` with `bot` over any number of connections; pass each to `converse` after its login."""

    def __init__(self, bot: Bot, plan: Plan) -> None:
        self.results: list[Result] = []
        self.heard = False  # whether the last connection brought an update
        self._bot = bot
        self._plan = plan
        self._seat: Seat | None = None
        self._finished = ""
        self._playing = False  # whether a match goes on that it is connected to: then it is not idle
        self._busy_at_s = time.monotonic()

    @property
    def one_match(self) -> bool:
        """Whether the plan is a single match."""
        return self._plan.matches is None and not self._plan.keep and not self._plan.contest

    @property
    def in_match(self) -> bool:
        """Whether it has a seat in a match that has not ended as far as it knows, connected or not."""
        return self._seat is not None

    def done(self) -> bool:
        """Whether the plan is fulfilled or the idle time-out has passed."""
        enough = 1 if self.one_match else self._plan.matches
        return (enough is not None and len(self.results) >= enough) or self.idle_left_s() <= 0

    def idle_left_s(self) -> float:
        """Seconds left of the idle time-out; infinite during a match or without a time-out."""
        if self._plan.idle_timeout_s is None or self._playing:
            return math.inf
        return self._busy_at_s + self._plan.idle_timeout_s - time.monotonic()

    def login_extras(self) -> dict[str, Any]:
        """The fields of the login message besides the bot's identity."""
        extras: dict[str, Any] = {"contest": self._plan.contest} if self._plan.contest else {}
        if self._plan.protocol >= 2:
            extras["protocol"] = 2
            if self._keeps():
                extras["session"] = "keep"
            if self._seat is not None:
                extras["resume"] = self._seat.match_id
                if self._bot.match.version is not None:
                    extras["version"] = self._bot.match.version
        return extras

    def converse(self, connection: Connection) -> None:
        """Play until this connection's last match is over or the bot was idle for too long.

        Raises ConnectionLost if the connection ends earlier, BadTurn, and what the bot raises.
        """
        self.heard, pinged = False, False
        keeps = self._keeps()
        try:
            while True:
                message = connection.receive(min(QUIET_S, self.idle_left_s()))
                if message is None:
                    if self.idle_left_s() <= 0:
                        return
                    if pinged:
                        raise ConnectionLost(None, "the server is silent")
                    connection.ping()
                elif self._heed(connection, message) and not (keeps and self._keeps()):
                    return
                pinged = message is None
        finally:
            if self._playing:
                # cut off from its match: idle from now on
                self._playing, self._busy_at_s = False, time.monotonic()

    def _keeps(self) -> bool:
        # the very last match needs a connection that ends with it: in a kept session the server could begin
        # another match at once, and leaving that one would lose it
        last = self._plan.matches is not None and len(self.results) >= self._plan.matches - 1
        return self._plan.keep and not last

    def _heed(self, connection: Connection, message: dict[str, Any]) -> bool:
        """Act on one message; return whether it ended a match."""
        over = False
        text = str(message.get("error") or message.get("notice") or "no reason given")
        update = Update.of(message) if isinstance(message.get("state"), dict) else None
        first = not self.heard
        if update is not None:
            self.heard, self._busy_at_s = True, time.monotonic()
            if update.match.id and update.match.id == self._finished:
                return False  # the server answers anything sent after the end by repeating the end
            over = self._follow(update, first, text)
        if "code" in message:
            if update is None:
                log.warning("the server says: %s (%s)", text, message["code"])
            self._bot.notice(str(message["code"]), text)
        if update is not None and not over:
            self._answer(connection, update, first)
        return over

    def _follow(self, update: Update, first: bool, problem: str) -> bool:
        """Call the bot's methods for an update; return whether the match has ended."""
        bot, match, state, turn = self._bot, update.match, update.state, update.turn
        bot.match = match
        # a server that sends no match ids plays one match per connection
        if self._seat is None or self._seat.match_id != match.id or (first and not match.id):
            self._begin(match)
            bot.started(state)
        else:
            for missed in update.missed:
                bot.updated(state, missed)
            bot.updated(state, turn)
        if turn is not None and turn.get("player") == bot.bot_id and turn.get("valid") is False:
            log.warning("the turn %s was not valid: %s", turn, problem)
        if not state.get("complete"):
            return False
        self._seat, self._playing, self._finished = None, False, match.id
        self.results.append(Result(match.id, state.get("victor"), str(state.get("reason", ""))))
        log.info("match %s is over: victor %s, reason %s", *self.results[-1])
        bot.finished(state)
        return True

    def _begin(self, match: Match) -> None:
        if self._seat is not None:
            log.warning("match %s ended while the bot was cut off", self._seat.match_id)
            self.results.append(Result(self._seat.match_id, None, "missed"))
        self._seat, self._playing = Seat(self._bot.bot_id, match.id), True

    def _answer(self, connection: Connection, update: Update, first: bool) -> None:
        """Send a turn if the update asks for one."""
        if self._seat is None:
            return
        self._playing = True
        action = self._seat.take(update, first=first)
        if action is Action.RESEND and self._seat.under_way is not None:
            connection.send(self._seat.under_way)
        elif action is Action.CHOOSE:
            turn = self._choose(update)
            left_s = update.match.time_left_s()
            if left_s is not None and left_s < 0:
                named = self._names_its_state(update)
                log.warning(
                    "choose took %.1f s too long: the turn %s", -left_s, "may be late" if named else "is not sent"
                )
                if not named:
                    # without them it could be taken for a turn of the next match
                    return
            self._seat.sent(turn)
            try:
                connection.send(turn)
            except (TypeError, ValueError, RecursionError) as error:
                raise BadTurn(f"choose returned {reprlib.repr(turn)}, which is no JSON: {error}.") from error

    def _choose(self, update: Update) -> Turn:
        try:
            turn = self._bot.choose(update.state)
        except Exception:
            log.exception("choose failed in match %s, on the state %s", update.match.id, update.state)
            raise
        if not isinstance(turn, dict):
            raise BadTurn(f"choose returned {turn!r}; a turn is a dict, such as {{'n': 3}}.")
        if not self._names_its_state(update):
            return turn
        return {"match": update.match.id, **turn, "version": update.match.version}

    def _names_its_state(self, update: Update) -> bool:
        """Whether turns carry match and version: then the server cannot apply one twice or to the next match."""
        return self._plan.protocol >= 2 and update.match.version is not None
