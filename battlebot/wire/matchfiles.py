"""The file formats for finished matches besides our own JSON: for each game those common in its community."""

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
class FileFormat:
    """A file format. `name` is also the file's extension; `write` returns the file for a stored match."""

    name: str
    mimetype: str
    write: Callable[[Record], bytes]


def formats_of(game: str) -> tuple[str, ...]:
    """The names of the formats for a game."""
    return tuple(FORMATS.get(game, ()))


def file_format_of(game: str, name: str) -> FileFormat:
    """The format of that name for a game. Raises UnknownFormat."""
    if name not in formats_of(game):
        known = ", ".join(formats_of(game)) or "none but JSON"
        raise UnknownFormat(f"Matches of {game} cannot be had as {name[:20]!r}; their formats are: {known}.")
    return FORMATS[game][name]


def _history(record: Record) -> dict[str, Any]:
    return history.history_of({**record, "complete": True}, record["_id"])


def _json(record: Record) -> bytes:
    return json.dumps(_history(record), indent=2, ensure_ascii=False).encode() + b"\n"


_OF_CROSSWORD = (
    FileFormat("gcg", "text/plain", lambda record: to_gcg(_history(record)).encode()),
    FileFormat("json", "application/json", _json),
    FileFormat("pb", "application/x-protobuf", lambda record: history.to_protobuf(_history(record))),
)
FORMATS = {history.GAME: {one.name: one for one in _OF_CROSSWORD}}
