"""What the server sends to a bot in a match. Every update holds `state`, because original clients index it in each."""

from __future__ import annotations

from typing import Any

import msgspec

from battlebot.wire.jsontext import encode

_STILL_BEGINS = {
    "for-now": "only a match that is to be played again begins there",
    "for-good": "no match begins there any more",
}


class Update(msgspec.Struct, frozen=True):
    """One update for one seat.

    `turn` is the echoed turn (with player, time, valid), or None. `asks`: a turn of this bot is awaited since the
    version `question`, for `remaining_s` more; its clock starts when the update has been written to its socket. Both
    times are shown to the bot reduced by `leeway_s`. `missed` are turns that a returning bot has not been told.
    `series` describes the board if the match belongs to a series. `place` is the seat's place, to which the update is
    sent.
    """

    bot: str
    match_id: str
    version: int
    revision: int
    state: dict[str, Any]
    turn: dict[str, Any] | None
    asks: bool
    final: bool
    remaining_s: float
    turn_timeout_s: float
    strikes: int
    code: str | None = None
    error: str | None = None
    fault: str | None = None
    leeway_s: float = 0.0
    question: int = 0
    missed: tuple[dict[str, Any], ...] | None = None
    series: dict[str, Any] | None = None
    place: str | None = None

    @property
    def repeats(self) -> bool:
        """Whether it only tells the current state: a bot that knows this version needs nothing else of it."""
        return self.turn is None and self.code is None and self.missed is None

    @property
    def text(self) -> str:
        """The JSON of `message`."""
        return encode(self.message)

    @property
    def message(self) -> dict[str, Any]:
        """`{"state", "turn"?, "match": {...}, "missed"?, "code"?, "error"?}`."""
        about: dict[str, Any] = {
            "id": self.match_id,
            "version": self.version,
            "turnTimeoutMs": round((self.turn_timeout_s - self.leeway_s) * 1000),
            "remainingMs": max(0, round((self.remaining_s - self.leeway_s) * 1000)),
            "strikes": self.strikes,
        }
        if self.fault is not None:
            about["fault"] = self.fault
        if self.series is not None:
            about["series"] = self.series
        message: dict[str, Any] = {"state": self.state, "match": about}
        if self.turn is not None:
            message["turn"] = self.turn
        if self.missed is not None:
            message["missed"] = self.missed
        if self.code is not None:
            message["code"] = self.code
            message["error"] = self.error
        return message


def notice(sentence: str, code: str) -> str:
    """A separate message for `"protocol": 2` only: `{"notice", "code"}`."""
    return encode({"notice": sentence, "code": code})


def contest_over(contest: str, how: str) -> str:
    """The notice for a bot that waits in a contest that is over, `for-now` or `for-good`."""
    return notice(f"The contest {contest!r} is over: {_STILL_BEGINS[how]}.", "over")


def complaint(sentence: str, code: str) -> str:
    """A separate message for `"protocol": 2` only: `{"error", "code"}`."""
    return encode({"error": sentence, "code": code})
