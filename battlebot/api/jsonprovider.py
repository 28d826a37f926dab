"""Flask's JSON by orjson: times in ISO 8601, UTC, with milliseconds; MongoDB's ids as text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
from bson import DBRef, ObjectId
from flask.json.provider import JSONProvider


def iso(moment: datetime) -> str:
    """Format like `2026-11-21T10:25:03.123Z`; a time without a zone is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class OrjsonProvider(JSONProvider):
    """Writes compact JSON unless `indent` is given; NaN and infinities become null, because JSON has none."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        """The value as JSON text. Raises TypeError for types that have no JSON form."""
        option = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS
        if kwargs.get("indent"):
            option |= orjson.OPT_INDENT_2
        return orjson.dumps(obj, default=_plain, option=option).decode()

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a JSON text. Raises a ValueError if it is not JSON."""
        return orjson.loads(s)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, ObjectId):
        return str(value)
    if isinstance(value, DBRef):
        # what the driver makes of an object with the keys $ref and $id
        return dict(value.as_doc())
    if isinstance(value, dict | list | tuple):
        return value
    raise TypeError(f"{type(value).__name__} has no form in JSON")
