"""A cache of stored matches as JSON for lists: pages of a thousand matches are requested again and again."""

from __future__ import annotations

from collections import OrderedDict

import orjson
from flask import current_app

from battlebot.api.context import current_context
from battlebot.api.verdicts import explained

REMEMBERED = 20_000  # matches, of about a kilobyte each

Entry = tuple[str, orjson.Fragment]


class Listed:
    """The JSON of matches that are not void; the only change to such a match is that it becomes void."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, int], Entry] = OrderedDict()

    def of_contest(self, game: str, contest: str, limit: int, before: str | None) -> list[Entry]:
        """Ids and JSON of a contest's most recent matches that are not void and ended before the match `before`.

        Raises Unavailable.
        """
        games = current_context().storage.games
        numbers = games.numbers(game, contest, limit, before)
        unknown = [number for number in numbers if (game, contest, number) not in self._known]
        entries = {}
        for match in games.numbered(game, contest, unknown):
            text = current_app.json.dumps(explained(match))
            entries[match["match"]["seq"]] = (match["_id"], orjson.Fragment(text))
        for number in numbers:
            key = (game, contest, number)
            if number not in entries and key in self._known:
                entries[number] = self._known[key]
            if number in entries:
                self._known[key] = entries[number]
                self._known.move_to_end(key)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return [entries[number] for number in numbers if number in entries]


def listed() -> Listed:
    """The current app's cache."""
    kept: Listed = current_app.extensions.setdefault("battlebot.listed", Listed())
    return kept
