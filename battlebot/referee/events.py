"""What can happen to a match. Each event is a value that the arena makes and `step` answers."""

from __future__ import annotations

from typing import Any

import msgspec


class Turned(msgspec.Struct, frozen=True):
    """A bot sent something. `turn` is None where it could not be read; `refusal` is a sentence that says why.

    `thinking_s` is the bot's own time: from its update written to its socket until the turn's bytes arrived, which was
    at `received_s` (epoch; None: just now). It answers the question of that `version`, where that is known: at any
    other it is an old one. `question`: it answers what was asked at that version, and counts only while that is asked.
    `unforgiving`: if it is not valid the match is lost, whatever strikes are left.
    `at`: the version that the match had when the turn came, where somebody has moved it on since; it is for that one,
    unless it says another itself.
    """

    bot: str
    turn: dict[str, Any] | None
    thinking_s: float
    refusal: str | None = None
    received_s: float | None = None
    version: int | None = None
    unforgiving: bool = False
    question: int | None = None
    at: int | None = None


class TimedOut(msgspec.Struct, frozen=True):
    """The bot's clock for the question of this version ran out on the node that holds its connection.

    `unread`: it has not read what it was sent before, so that the question itself could not be written to its socket.
    """

    bot: str
    version: int
    thinking_s: float
    unread: bool = False


class GaveUp(msgspec.Struct, frozen=True):
    """A bot that is asked by the server gave no answer that counts to the question of this version.

    `reason` is `timeout` or `invalid`, `sentence` says more; `cause` (JSON) is what a game that goes on without the bot
    is told, where that is something else. `code`: `invalid-turn` where an answer was read, and is no valid turn.
    """

    bot: str
    version: int
    reason: str
    sentence: str
    cause: Any = None
    thinking_s: float = 0.0
    code: str = "no-answer"


class Reconfigured(msgspec.Struct, frozen=True):
    """Whoever began the match changes its options."""

    options: dict[str, Any]


class Joined(msgspec.Struct, frozen=True):
    """A bot took its seat, after its return or over the head of another connection of its own.

    Its clock ran `thinking_s` longer where the other connection is at hand to be asked; else until `until_s` (epoch;
    None: now): when the bot was back, or for how long the other connection is known to have lived.
    `again`: the connection that sat there takes its seat again, which was emptied wrongly; who sits there now keeps it.
    """

    bot: str
    place: str
    until_s: float | None = None
    thinking_s: float | None = None
    again: bool = False


class Left(msgspec.Struct, frozen=True):
    """The connection at `place` is gone by the bot's own doing (`clean`), else the network broke it.

    `how` is a slug that says more: `goodbye`, `broken`, or that of the close frame by which it was closed. `at_s`
    (epoch) is when it ended; None: just now.
    """

    bot: str
    place: str
    clean: bool
    thinking_s: float = 0.0
    how: str | None = None
    at_s: float | None = None


class Orphaned(msgspec.Struct, frozen=True):
    """The server ended the connection at `place`, or lost it with its node: not the bot's doing. `how` is a slug."""

    bot: str
    place: str
    how: str | None = None


class Overdue(msgspec.Struct, frozen=True):
    """`due_s` has passed."""


class Failed(msgspec.Struct, frozen=True):
    """The server cannot go on with this match; `sentence` says why."""

    sentence: str


class Voided(msgspec.Struct, frozen=True):
    """The organiser took the match back before its end: it counts for nobody; `sentence` says why."""

    sentence: str


Event = Turned | TimedOut | GaveUp | Reconfigured | Joined | Left | Orphaned | Overdue | Failed | Voided
