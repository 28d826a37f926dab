"""What can happen to a match. The arena makes the events; `step` answers them."""

from __future__ import annotations

from typing import Any

import msgspec

NODE_DEAD = "node-dead"


class Turned(msgspec.Struct, frozen=True):
    """A bot sent something. `turn` is None if it could not be read; `refusal` is a sentence that says why.

    `thinking_s` is the bot's own time: from when its update had been written to its socket until the turn's bytes
    arrived, at `received_s` (epoch; None: now). `version`: the turn counts only while the match is at this version.
    `question`: it answers what was asked at that version, and counts only while that question is open.
    `unforgiving`: if it is invalid the match is lost, whatever strikes are left.
    `at`: the version of the match when the turn arrived, if the match has moved on since; the turn is for that version
    unless it names another.
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

    `unread`: the bot did not read earlier messages, so the question itself could not be written to its socket.
    """

    bot: str
    version: int
    thinking_s: float
    unread: bool = False


class GaveUp(msgspec.Struct, frozen=True):
    """A stateless bot gave no valid answer to the question of this version.

    `reason` is `timeout` or `invalid`, `sentence` says more. `cause` (JSON) is what a game that goes on without the bot
    is told; None: a sentence made from the verdict. `code` is `invalid-turn` if an answer was read but is not a valid
    turn.
    """

    bot: str
    version: int
    reason: str
    sentence: str
    cause: Any = None
    thinking_s: float = 0.0
    code: str = "no-answer"


class Reconfigured(msgspec.Struct, frozen=True):
    """The options are changed by whoever began the match."""

    options: dict[str, Any]


class Joined(msgspec.Struct, frozen=True):
    """A bot took its seat: it came back, or replaced an earlier connection of its own.

    Its clock is charged `thinking_s` if the earlier connection is at hand to tell its time; else it ran until `until_s`
    (epoch; None: now): when the bot came back, or as long as the earlier connection is known to have lived.
    `if_empty`: if another connection sits there now, that one keeps the seat. `tried`: the bot's logins that the server
    has turned away, each when it came and when it was turned away (epoch).
    """

    bot: str
    place: str
    until_s: float | None = None
    thinking_s: float | None = None
    if_empty: bool = False
    tried: tuple[tuple[float, float], ...] = ()


class Left(msgspec.Struct, frozen=True):
    """The connection at `place` ended: closed by the bot (`clean`), or broken by the network.

    `how` is a slug that says more: `goodbye`, `broken`, or the slug of the close frame by which it was closed. `at_s`
    (epoch; None: now) is when it ended.
    """

    bot: str
    place: str
    clean: bool
    thinking_s: float = 0.0
    how: str | None = None
    at_s: float | None = None


class Orphaned(msgspec.Struct, frozen=True):
    """The server closed the connection at `place`, or lost it with its node: not the bot's fault. `how` is a slug.

    If it is NODE_DEAD, the node may have died of what the bots sent: of the game's code.
    """

    bot: str
    place: str
    how: str | None = None


class Stranded(msgspec.Struct, frozen=True):
    """A node of the bot's door has died, perhaps while it hung: the bot may have come back to that one, and wait."""

    bot: str


class Outage(msgspec.Struct, frozen=True):
    """From `since_s` to `until_s` (epoch) the server could not let these bots in (None: any).

    `lasts`: it is not over, and the server is there: it may still let some bots in. Told twice, or in parts that
    overlap, it counts once; outages must be told in their order.
    """

    since_s: float
    until_s: float
    bots: tuple[str, ...] | None = None
    lasts: bool = False


class Overdue(msgspec.Struct, frozen=True):
    """The match's `due_s` has passed. The bots `elsewhere` stay away from their seats, though they are connected."""

    elsewhere: tuple[str, ...] = ()


class Failed(msgspec.Struct, frozen=True):
    """The server cannot go on with this match; `sentence` says why.

    `cause` is the exception that the game's code raised outside the referee, if that is why.
    """

    sentence: str
    cause: BaseException | None = None


class Voided(msgspec.Struct, frozen=True):
    """The organiser took the match back before its end: it counts for nobody; `sentence` says why."""

    sentence: str


Event = (
    Turned | TimedOut | GaveUp | Reconfigured | Joined | Left | Orphaned | Stranded | Outage | Overdue | Failed | Voided
)
