"""What an author subclasses and sees: Bot, the Match it plays, the Result of one. No sockets."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

State = dict[str, Any]
Turn = dict[str, Any]


@dataclass(frozen=True)
class Match:
    """The match that the bot plays, as of the last update; times in milliseconds, None where the server told none."""

    id: str = ""
    version: int | None = None
    turn_timeout_ms: int | None = None
    remaining_ms: int | None = None
    strikes: int | None = None
    received_at_s: float = field(default_factory=time.monotonic, repr=False, compare=False)

    @classmethod
    def of(cls, info: Any) -> Match:
        """Read the key `match` of an update; a server that knows no such key gives a match without an id."""
        if not isinstance(info, dict):
            return cls()
        return cls(
            id=str(info.get("id") or ""),
            version=info.get("version"),
            turn_timeout_ms=info.get("turnTimeoutMs"),
            remaining_ms=info.get("remainingMs"),
            strikes=info.get("strikes"),
        )

    def time_left_s(self) -> float | None:
        """Seconds left for this turn, from now; None where the server told no limit. Plan to use less."""
        if not self.remaining_ms:
            return None
        return self.remaining_ms / 1000 - (time.monotonic() - self.received_at_s)


class Result(NamedTuple):
    """How a match ended: `victor` is a bot's id, or None for a draw.

    The reason is the server's, or "missed" when the match ended while the bot was cut off: then `victor` is not known.
    """

    match: str
    victor: str | None
    reason: str


class Bot:
    """A bot: write `choose`. The other methods are called as the match goes on; write those you need."""

    bot_id = ""
    game = ""
    contest: str | None = None
    match = Match()

    def choose(self, state: State) -> Turn:
        """Return your turn, a JSON object with the fields that the game asks for. Called when you are to move.

        After an invalid turn it is called again with the same state; the third invalid turn loses the match.
        """
        raise NotImplementedError("Write your bot's logic in choose(self, state).")

    def started(self, state: State) -> None:
        """A match begins; `self.match.id` names it."""

    def updated(self, state: State, turn: Turn | None) -> None:
        """A turn was made: its own fields, and `player`, `time`, `valid`. None where no turn caused the update.

        After a lost connection it is called for each turn that was missed, in their order, with the state of now.
        """

    def finished(self, state: State) -> None:
        """The match is over: `state["victor"]` and `state["reason"]` say how."""

    def notice(self, code: str, text: str) -> None:
        """The server says something besides the match: a stable code and a sentence."""
