"""A rating as a value, and the table of ratings. Pure; how a match changes a rating is in `model`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from battlebot.ratings.elo import START

MU = 25.0
SIGMA = 25.0 / 3.0
INTERVAL_SIGMAS = 1.96  # 95 % of a normal distribution
CAUTION_SIGMAS = 3.0


@dataclass(frozen=True, slots=True)
class Rating:
    """An estimate of a bot's strength from its `matches`: a normal distribution. The defaults are a newcomer's.

    `mu` and `sigma` are on the scale of Weng and Lin's paper: of two bots with mus 25 / 6 apart, one is the clear
    favourite. `elo`, `wins` and `invalid` (turns that were invalid or late) are the original duel arena's numbers.
    """

    mu: float = MU
    sigma: float = SIGMA
    matches: int = 0
    elo: float = START
    wins: int = 0
    invalid: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Rating:
        """From a row with the fields by their names; a row of an earlier version may lack some."""
        return cls(**{name: row[name] for name in cls.__slots__ if name in row})

    def as_dict(self) -> dict[str, Any]:
        """The fields by their names."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def low(self) -> float:
        """The lower end of the interval in which the strength lies with 95 %."""
        return self.mu - INTERVAL_SIGMAS * self.sigma

    @property
    def high(self) -> float:
        """The upper end of that interval."""
        return self.mu + INTERVAL_SIGMAS * self.sigma

    @property
    def ordinal(self) -> float:
        """The value by which bots are ordered: a cautious estimate, so that one lucky win leads nowhere."""
        return self.mu - CAUTION_SIGMAS * self.sigma


def table(rows: Iterable[Mapping[str, Any]], offset: int, above: int) -> list[dict[str, Any]]:
    """A page of the table, from rows `{bot_id, mu, sigma, matches}` in its order: best ordinal first.

    `offset` rows come before the page; `above` of them have a better ordinal than its first row. Equal ordinals share
    a rank (1, 2, 2, 4).
    """
    page: list[dict[str, Any]] = []
    for place, row in enumerate(rows, start=offset + 1):
        rating = Rating.of(row)
        page.append(
            {
                "rank": _rank(page, "ordinal", rating.ordinal, place, above),
                "bot_id": row["bot_id"],
                "mu": rating.mu,
                "sigma": rating.sigma,
                "low": rating.low,
                "high": rating.high,
                "ordinal": rating.ordinal,
                "matches": rating.matches,
            }
        )
    return page


def results(rows: Iterable[Mapping[str, Any]], offset: int, above: int) -> list[dict[str, Any]]:
    """A page of the duel arena's table of results, from rows of ratings in its order: best Elo first.

    `offset` and `above` as in `table`, by Elo. Rows `{"rank", "player", "rating", "wins", "games", "invalidMoves"}`.
    """
    page: list[dict[str, Any]] = []
    for place, row in enumerate(rows, start=offset + 1):
        rating = Rating.of(row)
        page.append({"rank": _rank(page, "rating", rating.elo, place, above), **result(row["bot_id"], rating)})
    return page


def result(player: str, rating: Rating) -> dict[str, Any]:
    """A row of the table of results, without its rank."""
    return {
        "player": player,
        "rating": rating.elo,
        "wins": rating.wins,
        "games": rating.matches,
        "invalidMoves": rating.invalid,
    }


def _rank(page: list[dict[str, Any]], column: str, value: float, place: int, above: int) -> int:
    """The rank of the next row on a page: shared with the row before if their values are equal."""
    if not page:
        return above + 1
    shared: int = page[-1]["rank"]
    return shared if page[-1][column] == value else place
