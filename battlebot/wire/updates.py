"""What a bot in a match is sent. Every message of this file holds `state`: original clients index it in all of them."""

from __future__ import annotations

from typing import Any

import msgspec

from battlebot.wire.jsontext import encode


class Update(msgspec.Struct, frozen=True):
    """One update for one seat.

    `turn` is the turn as it is echoed (with player, time, valid), or None. `asks` says that a turn of this bot is
    waited for since the version `question`, `remaining_s` how long; the bot's clock starts when the update has been
    written to its socket. Of both times the bot is shown `leeway_s` less. `missed` are the turns that a bot that comes
    back has not been told. `series` is what is said of the board, where the match is one of a series. `place` is the
    seat's: where the update is sent.
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
        """Whether it says nothing but how the match stands: a bot that knows this version knows all of it."""
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
    """A message of its own, for `"protocol": 2` only: `{"notice", "code"}`."""
    return encode({"notice": sentence, "code": code})


def complaint(sentence: str, code: str) -> str:
    """A message of its own, for `"protocol": 2` only: `{"error", "code"}`."""
    return encode({"error": sentence, "code": code})
