"""The formats of files in which a finished match can be had, beside our own JSON: of each game those of its world."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from battlebot.errors import UnknownFormat
from battlebot.wire.macondo import history
from battlebot.wire.macondo.gcg import to_gcg

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Format:
    """One format: what the file is called behind the dot is its name. `write` makes the file of a stored match."""

    name: str
    mimetype: str
    write: Callable[[Record], bytes]


def formats_of(game: str) -> tuple[str, ...]:
    """The names of a game's formats."""
    return tuple(FORMATS.get(game, ()))


def format_of(game: str, name: str) -> Format:
    """A game's format. Raises UnknownFormat."""
    if name not in formats_of(game):
        known = ", ".join(formats_of(game)) or "none but JSON"
        raise UnknownFormat(f"Matches of {game} cannot be had as {name[:20]!r}; their formats are: {known}.")
    return FORMATS[game][name]


def _history(record: Record) -> dict[str, Any]:
    return history.history_of({**record, "complete": True}, record["_id"])


def _json(record: Record) -> bytes:
    return json.dumps(_history(record), indent=2, ensure_ascii=False).encode() + b"\n"


_OF_CROSSWORD = (
    Format("gcg", "text/plain", lambda record: to_gcg(_history(record)).encode()),
    Format("json", "application/json", _json),
    Format("pb", "application/x-protobuf", lambda record: history.to_protobuf(_history(record))),
)
FORMATS = {history.GAME: {one.name: one for one in _OF_CROSSWORD}}
