"""Reads a contest over REST without a token: who met whom how often, and the ranking. Prints and decides nothing."""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from urllib.parse import quote

_TIMEOUT_S = 10.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Onlooker:
    """Reads one contest of one server; `url` is the server's, without a trailing slash."""

    url: str
    game: str
    contest: str

    def look(self) -> dict[str, Any] | None:
        """The current `{"bots": [...], "games": [...]}`, without void ones; None: no such contest, or no answer."""
        request = f"{self.url}/games/{_quoted(self.game)}/contest/{_quoted(self.contest)}"
        try:
            with _OPENER.open(request, timeout=_TIMEOUT_S) as answer:
                return dict(json.load(answer))
        except (OSError, ValueError, http.client.HTTPException):
            return None

    def pages(self) -> dict[str, str]:
        """The addresses for people and for programs, by their description."""
        game, contest = _quoted(self.game), _quoted(self.contest)
        return {
            "home": f"{self.url}/",
            "game": f"{self.url}/web/{game}",
            "contest": f"{self.url}/web/{game}/contests/{contest}",
            "contest, JSON": f"{self.url}/games/{game}/contest/{contest}",
        }


def meetings(bots: Sequence[str], games: Sequence[dict[str, Any]]) -> Counter[frozenset[str]]:
    """How often each pair of `bots` has met in these games, zeros included."""
    counts = Counter({frozenset(pair): 0 for pair in combinations(bots, 2)})
    counts.update(frozenset(game["players"]) for game in games)
    return counts


def _quoted(name: str) -> str:
    return quote(name, safe="")
