"""A match as a value: seats, state, clocks, verdict, and its form as a document. How it changes is in `step`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Fault(StrEnum):
    """Whose doing the end of a match was."""

    NONE = "none"
    BOT = "bot"
    NETWORK = "network"
    SERVER = "server"


class Reason(StrEnum):
    """How a match ended, as `state.reason` says it (seed 000; `invalid`, `error`, `length` and `void` are ours)."""

    COMPLETE = "complete"
    DISCONNECT = "disconnect"
    TIMEOUT = "timeout"
    INVALID = "invalid"
    ERROR = "error"
    LENGTH = "length"
    VOID = "void"


class Limits(msgspec.Struct, frozen=True):
    """What a match is played under; kept in the match, so that a change of settings changes no running match.

    Of the time for a turn, bots are not told the last `leeway_s`. Of each bot `max_record_bytes` of turns are kept.
    """

    turn_timeout_s: float = 3.0
    max_strikes: int = 3
    node_grace_s: float = 15.0
    max_turns: int = 200_000
    leeway_s: float = 0.0
    max_record_bytes: int = 4_194_304


class Seat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bot's place in a match.

    `place` is where its updates go (a node's name and a connection's), None while the seat is empty. `remaining_s` is
    what is left of the clock of the turn that is asked of it, and `asked_s` (epoch) since when nothing has been charged
    to that clock. `since_s` (epoch) is when that turn became due: when the bytes arrived that made it this seat's.
    A seat is empty from `left_s` on and kept until `back_by_s` (epoch); `emptied_by` says whose doing its emptiness
    is, and `how` how the connection ended.
    `question` is the version at which it was asked last; `answered` the version and the text of its last valid turn;
    `recorded_bytes` how long the texts of all its valid turns are together.
    `address` is where its bot is asked, if the bot is stateless: then nothing is sent to it but questions.
    """

    bot: str
    place: str | None
    remaining_s: float
    strikes: int = 0
    back_by_s: float | None = None
    emptied_by: Fault = Fault.NONE
    answered: tuple[int, str] | None = None
    asked_s: float | None = None
    since_s: float | None = None
    left_s: float | None = None
    how: str | None = None
    question: int = 0
    recorded_bytes: int = 0
    address: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """How a match ended. `victor` is None for a draw; `evidence` holds the times and numbers that prove the fault."""

    victor: str | None
    reason: Reason
    fault: Fault
    evidence: dict[str, Any] = {}

    @property
    def void(self) -> bool:
        """Whether the match counts for nobody: by a server's fault, or because its organiser took it back."""
        return self.fault is Fault.SERVER or self.reason is Reason.VOID


class Series(msgspec.Struct, frozen=True):
    """Matches, boards, that the same two play one after the other, the first mover changed each time (duel-arena).

    `board` is which of the `boards` this match is, from 1; `number` an integer that grows from each board to the next,
    whoever plays it. The series goes on while all its bots are `staying`: their sessions outlast a board. `by_name` are
    those whose live match is found by their name alone; `passwordless` those whose name anybody could have used.
    """

    id: str
    board: int
    boards: int
    number: int
    staying: tuple[str, ...] = ()
    by_name: tuple[str, ...] = ()
    passwordless: tuple[str, ...] = ()


class Match(msgspec.Struct, frozen=True):
    """One play of a game.

    `version` counts the valid turns and is what bots see; `revision` counts the commits and is what the store
    compares. `due_s` (epoch) is when somebody must look after the match, whatever happens to its nodes: it is there
    exactly as long as there is no verdict. `nudges` counts how often nobody did anything until then. Of one that is not
    `rated`, anybody could have named the bots as he liked.
    """

    id: str
    game: str
    contest: str | None
    seats: tuple[Seat, ...]
    state: dict[str, Any]
    limits: Limits
    options: dict[str, Any]
    seed: int
    started_s: float
    version: int = 0
    revision: int = 0
    due_s: float | None = None
    nudges: int = 0
    verdict: Verdict | None = None
    series: Series | None = None
    rated: bool = True

    def seat_of(self, bot: str) -> Seat | None:
        """The bot's seat, or None if it plays no part in this match."""
        for seat in self.seats:
            if seat.bot == bot:
                return seat
        return None

    def as_document(self) -> dict[str, Any]:
        """A dict of JSON values from which `from_document` makes an equal match."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document

    @property
    def goes_on(self) -> bool:
        """Whether the same bots play another board when this one is over."""
        series = self.series
        return series is not None and series.board < series.boards and len(series.staying) == len(self.seats)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Match:
        """The match that `as_document` described."""
        return msgspec.convert(document, cls)
