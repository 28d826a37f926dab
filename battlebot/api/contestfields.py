"""The fields of what organisers send. Each checks one kind of value and reports errors in our form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import fields

from battlebot.api.schemas import refused
from battlebot.contests.contest import MOST_ENTRANTS, ORIGINAL_POINTS
from battlebot.errors import BadName
from battlebot.wire.names import checked_name

MOST_POINTS = 1000

# a date, a time and a zone; few others accept what else Python does (weeks, ordinals, no separators)
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE | re.ASCII)


class Whole(fields.Field[int]):
    """A whole number within bounds; in JSON a number too, not text."""

    def __init__(self, low: int, high: int, **kwargs: Any) -> None:
        bounds = {"type": "integer", "minimum": low, "maximum": high}
        super().__init__(metadata={**bounds, **kwargs.pop("metadata", {})}, **kwargs)
        self.low, self.high = low, high

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if type(value) is not int or not self.low <= value <= self.high:
            raise refused("bounds", f"{attr} must be a whole number from {self.low} to {self.high}.")
        return value


class Moment(fields.Field[datetime]):
    """A moment as ISO 8601 text with its zone."""

    def __init__(self, **kwargs: Any) -> None:
        form = {"type": "string", "format": "date-time"}
        super().__init__(metadata={**form, **kwargs.pop("metadata", {})}, allow_none=True, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        try:
            if not isinstance(value, str) or not MOMENT.fullmatch(value):
                raise ValueError
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            sentence = f"{attr} must be a moment with its zone, such as 2026-12-01T10:00:00Z."
            raise refused("moment", sentence) from None


class Text(fields.Field[str]):
    """A line of text for people."""

    def __init__(self, longest: int, **kwargs: Any) -> None:
        form = {"type": "string", "minLength": 1, "maxLength": longest}
        super().__init__(metadata={**form, **kwargs.pop("metadata", {})}, **kwargs)
        self.longest = longest

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or not 1 <= len(value.strip()) <= self.longest or not value.isprintable():
            raise refused("text", f"{attr} must be a line of 1 to {self.longest} printable characters.")
        return value.strip()


class JsonObject(fields.Field[dict[str, Any]]):
    """An object whose keys are checked elsewhere, by the game or the format."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refused("object", f"{attr} must be an object.")
        return value


class BotNames(fields.Field[list[str]]):
    """Names of bots, each once."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        if not isinstance(value, list) or len(value) > MOST_ENTRANTS:
            raise refused("list", f"{attr} must be a list of at most {MOST_ENTRANTS} bots.")
        names = [_entry(name, attr or "entrants", index) for index, name in enumerate(value)]
        if len(set(names)) < len(names):
            raise refused("unique", f"{attr} must name each bot once.")
        return names


def _entry(name: Any, field: str, index: int) -> str:
    try:
        return checked_name(name, f"{field}[{index}]")
    except BadName as error:
        raise BadName(str(error), field=field) from None


class Entrants(BotNames):
    """`"open"`, or names of bots, each once."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if value == "open":
            return value
        if isinstance(value, str):
            raise refused("list", f'{attr} must be "open" or a list of bots.')
        return super()._deserialize(value, attr, data, **kwargs)


class Points(fields.Field[dict[str, int]]):
    """Points for a win, a draw and a loss; those left out are as in the originals."""

    def __init__(self, **kwargs: Any) -> None:
        each = {"type": "integer", "minimum": 0, "maximum": MOST_POINTS}
        properties = {name: {**each, "default": count} for name, count in ORIGINAL_POINTS.items()}
        form = {"type": "object", "properties": properties, "additionalProperties": False}
        super().__init__(metadata={**form, **kwargs.pop("metadata", {})}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, int]:
        if not isinstance(value, Mapping) or not value.keys() <= ORIGINAL_POINTS.keys():
            raise refused("object", f"{attr} must be an object of win, draw and loss.")
        found = {**ORIGINAL_POINTS, **value}
        if not all(type(each) is int and 0 <= each <= MOST_POINTS for each in found.values()):
            raise refused("bounds", f"{attr} must be whole numbers from 0 to {MOST_POINTS}.")
        if not found["win"] >= found["draw"] >= found["loss"]:
            raise refused("order", f"{attr}: a win must not count less than a draw, nor a draw less than a loss.")
        return found
