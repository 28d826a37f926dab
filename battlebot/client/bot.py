"""What bot authors use: the class Bot to subclass, the Match it plays, and a match's Result. No sockets."""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

State = dict[str, Any]
Turn = dict[str, Any]


@dataclass(frozen=True)
class Match:
    """The bot's current match as of the last update; times in milliseconds, None for what the server did not send.

    `fault` is sent when the match is over, and says whose fault the end was.
    """

    id: str = ""
    version: int | None = None
    turn_timeout_ms: int | None = None
    remaining_ms: int | None = None
    strikes: int | None = None
    fault: str | None = None
    received_at_s: float = field(default_factory=time.monotonic, repr=False, compare=False)

    @classmethod
    def of(cls, info: Any) -> Match:
        """Read the key `match` of an update; if the server does not send one, the match has no id."""
        if not isinstance(info, dict):
            return cls()
        return cls(
            id=str(info.get("id") or ""),
            version=info.get("version"),
            turn_timeout_ms=info.get("turnTimeoutMs"),
            remaining_ms=info.get("remainingMs"),
            strikes=info.get("strikes"),
            fault=info.get("fault"),
        )

    def time_left_s(self) -> float | None:
        """Seconds left for this turn; None if the server sent no limit. Plan to use less."""
        if not self.remaining_ms:
            return None
        return self.remaining_ms / 1000 - (time.monotonic() - self.received_at_s)


class Result(NamedTuple):
    """How a match ended: `victor` is a bot's id, or None for a draw.

    The reason is the server's, or "missed" if the match ended while the bot was disconnected: then the victor is
    unknown and `victor` is None.
    """

    match: str
    victor: str | None
    reason: str


class Bot:
    """A bot: implement `choose`. The other methods are called during the match; override those you need."""

    bot_id = ""
    game = ""
    contest: str | None = None
    match = Match()

    def choose(self, state: State) -> Turn:
        """Return your turn, a JSON object with the fields that the game requires. Called when it is your turn.

        After an invalid turn it is called again with the same state; the third invalid turn loses the match.
        """
        raise NotImplementedError("Write your bot's logic in choose(self, state).")

    def started(self, state: State) -> None:
        """Called when a match begins; `self.match.id` is its id."""

    def updated(self, state: State, turn: Turn | None) -> None:
        """Called after a turn: its own fields plus `player`, `time` and `valid`; None if no turn caused the update.

        After a lost connection it is called for each missed turn in order, always with the current state.
        """

    def finished(self, state: State) -> None:
        """Called when the match is over: `state["victor"]` and `state["reason"]` say how it ended."""

    def notice(self, code: str, text: str) -> None:
        """Called for a message from the server about something other than the match: a stable code and a sentence."""


def as_bot(given: Bot | type[Bot]) -> Bot:
    """Returns a bot that can play: the given one, or one of the given class.

    Raises TypeError for anything else, and if its `choose` is missing or `async`: otherwise it would be told so in its
    first match, and lose that.
    """
    bot = given() if isinstance(given, type) and issubclass(given, Bot) else given
    if not isinstance(bot, Bot):
        raise TypeError(f"A bot is a subclass of Bot, or an instance of one, not {given!r}.")
    if getattr(bot.choose, "__func__", None) is Bot.choose:
        raise TypeError(f"{type(bot).__name__} has no method choose(self, state): write your bot's logic there.")
    if inspect.iscoroutinefunction(bot.choose):
        raise TypeError(f"{type(bot).__name__}.choose is async: nobody awaits it; write it as a plain `def`.")
    return bot
