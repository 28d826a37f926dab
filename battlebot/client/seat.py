"""The SDK's memory of the current match, and what an update requires of it. No sockets, no bot logic."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from battlebot.client.bot import Match, State, Turn


class Action(Enum):
    """What to do after an update."""

    WAIT = "it is not our turn, or our turn is under way and not yet answered"
    CHOOSE = "ask the bot for a turn"
    RESEND = "the turn we sent did not arrive: send the same again"


@dataclass(frozen=True)
class Update:
    """A decoded update: `turn` is None if no turn caused it; `missed` are the turns made while disconnected."""

    state: State
    turn: Turn | None
    match: Match
    missed: tuple[Turn, ...] = ()

    @classmethod
    def of(cls, message: dict[str, Any]) -> Update:
        """Read a message that has the key `state`."""
        missed = message.get("missed")
        missed = tuple(missed) if isinstance(missed, list) else ()
        return cls(message["state"], message.get("turn"), Match.of(message.get("match")), missed)

    def awaits(self, bot_id: str) -> bool:
        """Whether the match is running and waits for this bot's turn.

        After the turn that loses it by strikes the state is still the one before: only the fault tells that it is over.
        """
        if self.state.get("complete") or self.match.fault is not None:
            return False
        return self.state.get("nextPlayer") == bot_id or bot_id in (self.state.get("waitingFor") or ())


class Seat:
    """Our place in one match, kept across connections: the last version seen, and the turn under way, if any.

    A turn is under way from `sent` until the update that echoes it. Meanwhile no other turn is sent: in a
    simultaneous game, another bot's turn may change the state before ours arrives.
    """

    def __init__(self, bot_id: str, match_id: str) -> None:
        self.bot_id = bot_id
        self.match_id = match_id
        self.under_way: Turn | None = None
        self._asked: tuple[int | None, int | None] = (None, None)  # version and strikes of the last update
        self._answered: tuple[int | None, int | None] = (None, None)

    def take(self, update: Update, *, first: bool) -> Action:
        """What `update` requires; `first`: it is the first update on a new connection."""
        self._asked = (update.match.version, update.match.strikes)
        if self._is_echo(update.turn) or self._is_overtaken(update):
            self.under_way = None
        if not update.awaits(self.bot_id):
            if first:
                self.under_way = None
            return Action.WAIT
        if self.under_way is None:
            return Action.CHOOSE
        # no turn caused this update: the server starts over, and earlier messages of either side may be lost
        if not first and update.turn is not None:
            return Action.WAIT
        if update.match.version is not None:
            # the same version and strikes mean that our turn was lost; in a simultaneous game it may still be
            # under way, and is at worst acknowledged twice
            if self._asked == self._answered or (not first and self._is_newer(update)):
                return Action.RESEND
        elif not first:
            return Action.WAIT
        self.under_way = None
        return Action.CHOOSE

    def sent(self, turn: Turn) -> None:
        """Record `turn` as under way, as the answer to the last update. Call it when the turn is sent."""
        self.under_way = turn
        self._answered = self._asked

    def _is_newer(self, update: Update) -> bool:
        """Whether the match's version has grown since the turn under way was sent."""
        version, answered = update.match.version, self._answered[0]
        return version is not None and answered is not None and version > answered

    def _is_overtaken(self, update: Update) -> bool:
        """Whether the turn under way must have arrived and its echo was lost: a sequential game moves on only by it."""
        return "waitingFor" not in update.state and self._is_newer(update)

    def _is_echo(self, turn: Turn | None) -> bool:
        """Whether the update's turn is the one under way. An older turn, acknowledged twice, has another version.

        One that the server could not read comes back without any of its fields.
        """
        if self.under_way is None or turn is None or turn.get("player") != self.bot_id:
            return False
        if turn.get("valid") is False and not turn.keys() & self.under_way.keys():
            return True
        return all(turn.get(key) == self.under_way.get(key) for key in ("match", "version"))
