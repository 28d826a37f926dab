"""A stored match as JSON, of which little is in memory at a time, however long it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from battlebot.storage.games import PER_TURN

Dumps = Callable[[Any], str]


def json_line(match: Mapping[str, Any], entries: Callable[[str], Iterator[list[Any]]], dumps: Dumps) -> Iterator[bytes]:
    """The match as a line of JSON. A long match gets its turns, then their times, some at a time from `entries`."""
    if "turns" in match:
        yield dumps(match).encode() + b"\n"
        return
    head = {name: value for name, value in match.items() if name != "match"}
    yield f'{dumps(head)[:-1]},"turns":['.encode()
    yield from joined(entries("turns"), dumps)
    yield f'],"match":{dumps(match["match"])[:-1]}'.encode()
    for name in PER_TURN:
        values = entries(name)
        # matches of earlier versions do not have all of them
        if (first := next(values, None)) is not None:
            yield f',"{name}":['.encode()
            yield from joined(chain([first], values), dumps)
            yield b"]"
    yield b"}}\n"


def joined(parts: Iterator[list[Any]], dumps: Dumps) -> Iterator[bytes]:
    """The JSON of what a list holds, part by part, without the list's brackets."""
    for number, part in enumerate(parts):
        yield f"{',' if number else ''}{dumps(part)[1:-1]}".encode()
