"""A match as a value: seats, state, clocks, verdict. How it changes is in `step`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Fault(StrEnum):
    """Who caused the end of a match."""

    NONE = "none"
    BOT = "bot"
    NETWORK = "network"
    SERVER = "server"


class Reason(StrEnum):
    """How a match ended, as `state.reason` says it (`invalid`, `error`, `length` and `void` are ours)."""

    COMPLETE = "complete"
    DISCONNECT = "disconnect"
    TIMEOUT = "timeout"
    INVALID = "invalid"
    ERROR = "error"
    LENGTH = "length"
    VOID = "void"


class Limits(msgspec.Struct, frozen=True):
    """The limits of a match; kept in the match, so that changed settings do not affect a running one.

    Bots are told a turn's time less `leeway_s`. At most `max_record_bytes` of each bot's turns are recorded; a turn
    beyond that is invalid.
    """

    turn_timeout_s: float = 3.0
    max_strikes: int = 3
    node_grace_s: float = 15.0
    max_turns: int = 200_000
    leeway_s: float = 0.0
    max_record_bytes: int = 4_194_304


class Seat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bot's place in a match. Moments are epoch seconds.

    - `place`: where its updates go (a text that the arena makes and alone reads); None while the seat is empty.
    - `address`: where its bot is asked, if the bot is stateless: then only questions are sent to it.
    - `strikes`: its turns that were not legal.

    Its clock:

    - `remaining_s`: what is left for the turn that is asked of it; time up to `asked_s` has already been charged.
    - `since_s`: when that turn became due: when the bytes arrived that put this seat on turn.
    - `question`: the version at which it was last asked.
    - `answered`: the version and the text of its last valid turn; `answered_ms`: that turn's time in the record.
    - `recorded_bytes`: the total length of the texts of its valid turns.

    While it is empty:

    - `left_s`, `left_place`: since when, and at which place the connection ended; `how`: how it ended.
    - `emptied_by`: whose doing that is.
    - `back_by_s`: until when it is kept; None: it is not waited for until it is asked.
    - `resumed_s`: up to when outages of the server are allowed for in that.
    - `stopped`: the clock stands still until the bot is back: the server emptied the seat, or was away meanwhile.
    """

    bot: str
    place: str | None
    remaining_s: float
    strikes: int = 0
    back_by_s: float | None = None
    emptied_by: Fault = Fault.NONE
    answered: tuple[int, str] | None = None
    answered_ms: int = 0
    asked_s: float | None = None
    since_s: float | None = None
    left_s: float | None = None
    left_place: str | None = None
    resumed_s: float = 0.0
    how: str | None = None
    stopped: bool = False
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
        """Returns whether the match counts for nobody: by the server's fault, or because its organiser took it back."""
        return self.fault is Fault.SERVER or self.reason is Reason.VOID


class Series(msgspec.Struct, frozen=True):
    """Matches, called boards, that the same two bots play one after another, taking turns to move first (duel-arena).

    `board` is the number of this match among the `boards`, from 1. `number` is an integer that grows from each board to
    the next, whoever plays it. `by_name` are the bots whose live match is found by their name alone; `passwordless`
    those whose name anybody could have used.
    """

    id: str
    board: int
    boards: int
    number: int
    by_name: tuple[str, ...] = ()
    passwordless: tuple[str, ...] = ()


class Match(msgspec.Struct, frozen=True):
    """One play of a game.

    `version` counts the valid turns and is what bots see; `revision` counts the commits and is what the store
    compares. `due_s` (epoch) is when somebody must look after the match, even if its nodes have died; it is set
    exactly as long as there is no verdict. `nudges` counts how often that moment has passed without effect since the
    last turn. `wary`: since the last turn a node of its bots has died, perhaps of the game's code. If the match is not
    `rated`, anybody could have named its bots as they liked.
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
    wary: bool = False

    def seat_of(self, bot: str) -> Seat | None:
        """Returns the bot's seat, or None if it is not in this match."""
        for seat in self.seats:
            if seat.bot == bot:
                return seat
        return None

    @property
    def goes_on(self) -> bool:
        """Returns whether the same bots play another board after this one."""
        return self.series is not None and self.series.board < self.series.boards
