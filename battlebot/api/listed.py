"""Stored matches as JSON for lists, and a cache of it: pages of a thousand matches are requested again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from flask import current_app

from battlebot.api.context import current_context
from battlebot.api.verdicts import explained
from battlebot.runtime.cooperative import yield_to_others
from battlebot.storage.batches import FEWEST, fitting

MOST_BYTES = 4_000_000  # of a page: a state may be large, and in memory takes several times as much
REMEMBERED_BYTES = 64_000_000


class Entry(NamedTuple):
    """A match in a list, or a contest: its id, or its name, and what is shown of it as JSON."""

    key: str
    text: bytes


def entry_of(match: Mapping[str, Any]) -> Entry:
    """The entry of a stored match without turns."""
    return Entry(match["_id"], current_app.json.dumps(explained(match)).encode())


def page_of(entries: Iterable[Entry], limit: int) -> tuple[list[Entry], bool]:
    """The first `limit` of the entries, fewer if these are beyond `MOST_BYTES`; and whether there are more.

    Takes no more of the entries than it needs, and one at least.
    """
    page: list[Entry] = []
    size = 0
    for entry in entries:
        size += len(entry.text)
        if page and (len(page) == limit or size > MOST_BYTES):
            return page, True
        page.append(entry)
    return page, False


def shown(page: Iterable[Entry]) -> list[orjson.Fragment]:
    """What is on a page, for an answer."""
    return [orjson.Fragment(entry.text) for entry in page]


class Listed:
    """The JSON of matches that are not void; the only change to such a match is that it becomes void."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, int], Entry] = OrderedDict()
        self._size = 0

    def of_contest(self, game: str, contest: str, limit: int, before: str | None) -> Iterator[Entry]:
        """Yields the entries of a contest's most recent matches that are not void and ended before the match `before`.

        There are `limit` at least, if the contest has as many. Raises Unavailable, also during the iteration.
        """
        more = True
        while more:
            numbers = current_context().storage.games.numbers(game, contest, limit, before)
            # of these, some may become void before they are read
            more = len(numbers) == limit
            for entry in self._each(game, contest, numbers):
                yield entry
                before = entry.key

    def _each(self, game: str, contest: str, numbers: list[int]) -> Iterator[Entry]:
        begin, count = 0, FEWEST
        while some := numbers[begin : begin + count]:
            entries = self._numbered(game, contest, some)
            yield from entries
            begin, count = begin + count, fitting(sum(len(entry.text) for entry in entries), len(some))

    def _numbered(self, game: str, contest: str, numbers: list[int]) -> list[Entry]:
        entries = {number: known for number in numbers if (known := self._known.get((game, contest, number)))}
        unknown = [number for number in numbers if number not in entries]
        for match in current_context().storage.games.numbered(game, contest, unknown):
            entries[match["match"]["seq"]] = entry_of(match)
        if unknown:
            yield_to_others()
        for number, entry in entries.items():
            self._remember((game, contest, number), entry)
        return [entries[number] for number in numbers if number in entries]

    def _remember(self, key: tuple[str, str, int], entry: Entry) -> None:
        before = self._known.get(key)
        self._known[key] = entry
        self._known.move_to_end(key)
        if before is not entry:
            self._size += len(entry.text) - (len(before.text) if before else 0)
            while self._size > REMEMBERED_BYTES:
                self._size -= len(self._known.popitem(last=False)[1].text)


def listed() -> Listed:
    """The current app's cache."""
    kept: Listed = current_app.extensions.setdefault("battlebot.listed", Listed())
    return kept
