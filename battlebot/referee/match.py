"""A match as a value: seats, state, clocks, verdict, and its form as a document. How it changes is in `step`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


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


@dataclass(frozen=True, slots=True)
class Limits:
    """What a match is played under; kept in the match, so that a change of settings changes no running match.

    Of the time for a turn, bots are not told the last `leeway_s`.
    """

    turn_timeout_s: float = 3.0
    max_strikes: int = 3
    node_grace_s: float = 15.0
    max_turns: int = 1_000_000
    leeway_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Seat:
    """A bot's place in a match.

    `place` is where its updates go (a node's name and a connection's), None while the seat is empty. `remaining_s` is
    what is left of the clock of the turn that is asked of it, and `asked_s` (epoch) since when nothing has been charged
    to that clock. `since_s` (epoch) is when that turn became due: when the bytes arrived that made it this seat's.
    An empty seat is kept until `back_by_s` (epoch); `emptied_by` says whose doing its emptiness is.
    `answered` is the version and the text of its last valid turn.
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a match ended. `victor` is None for a draw; `evidence` holds the times and numbers that prove the fault."""

    victor: str | None
    reason: Reason
    fault: Fault
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def void(self) -> bool:
        """Whether the match counts for nobody: by a server's fault, or because its organiser took it back."""
        return self.fault is Fault.SERVER or self.reason is Reason.VOID


@dataclass(frozen=True, slots=True)
class Match:
    """One play of a game.

    `version` counts the valid turns and is what bots see; `revision` counts the commits and is what the store
    compares. `due_s` (epoch) is when somebody must look after the match, whatever happens to its nodes: it is there
    exactly as long as there is no verdict. `nudges` counts how often nobody did anything until then.
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

    def seat_of(self, bot: str) -> Seat | None:
        """The bot's seat, or None if it plays no part in this match."""
        return next((seat for seat in self.seats if seat.bot == bot), None)

    def as_document(self) -> dict[str, Any]:
        """A dict of JSON values from which `from_document` makes an equal match."""
        document = {name: getattr(self, name) for name in Match.__slots__}
        document["seats"] = [
            {name: getattr(seat, name) for name in Seat.__slots__ if getattr(seat, name) is not None}
            for seat in self.seats
        ]
        document["limits"] = asdict(self.limits)
        document["verdict"] = None if self.verdict is None else asdict(self.verdict)
        return document

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Match:
        """The match that `as_document` described."""
        return cls(
            **{
                **document,
                "seats": tuple(_seat(row) for row in document["seats"]),
                "limits": Limits(**document["limits"]),
                "verdict": _verdict(document["verdict"]),
            }
        )


def _seat(row: dict[str, Any]) -> Seat:
    answered = row.get("answered")
    return Seat(
        **{
            **row,
            "place": row.get("place"),
            "emptied_by": Fault(row["emptied_by"]),
            "answered": None if answered is None else (answered[0], answered[1]),
        }
    )


def _verdict(row: dict[str, Any] | None) -> Verdict | None:
    if row is None:
        return None
    return Verdict(row["victor"], Reason(row["reason"]), Fault(row["fault"]), row["evidence"])
