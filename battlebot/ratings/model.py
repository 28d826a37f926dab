"""How a match changes its players' ratings (Weng and Lin 2011, Plackett-Luce). Pure; only this file uses openskill.

R. C. Weng, C.-J. Lin: A Bayesian Approximation Method for Online Ranking. JMLR 12 (2011), algorithm 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openskill.models import PlackettLuce

from battlebot.ratings.elo import moved
from battlebot.ratings.rating import MU, SIGMA, Rating

# Weng and Lin's own scale. tau keeps sigma from vanishing, so that an improved bot can still rise
MODEL = PlackettLuce(mu=MU, sigma=SIGMA, beta=SIGMA / 2, tau=MU / 300)

NEWCOMER = Rating()


def rated(before: Mapping[str, Rating], match: Mapping[str, Any]) -> dict[str, Rating]:
    """The new ratings of those who played a stored match; a bot without a rating in `before` is a newcomer.

    Ratings are not moved by void matches, by a bot's matches against itself, or by unrated ones, whose bots anybody
    could have named.
    """
    ranks = stored_ranks(match)
    if match["match"]["void"] or match["match"].get("unrated") or len(ranks) < 2:
        return {}
    bots = list(ranks)
    old = [before.get(bot, NEWCOMER) for bot in bots]
    teams = [[MODEL.rating(rating.mu, rating.sigma)] for rating in old]
    new = MODEL.rate(teams, ranks=[float(ranks[bot]) for bot in bots])
    elos = _elos(ranks, dict(zip(bots, old, strict=True)))
    best = min(ranks.values())
    return {
        bot: Rating(
            team[0].mu,
            team[0].sigma,
            rating.matches + 1,
            elos[bot],
            rating.wins + (ranks[bot] == best and sum(rank == best for rank in ranks.values()) == 1),
            rating.invalid + _invalid(match, bot),
        )
        for bot, team, rating in zip(bots, new, old, strict=True)
    }


def _elos(ranks: Mapping[str, float], before: Mapping[str, Rating]) -> dict[str, float]:
    """Elo after a match of two; with more players it is not defined, and stays."""
    if len(ranks) != 2:
        return {bot: rating.elo for bot, rating in before.items()}
    one, two = ranks
    score = 0.5 if ranks[one] == ranks[two] else float(ranks[one] < ranks[two])
    return {
        one: moved(before[one].elo, before[two].elo, score),
        two: moved(before[two].elo, before[one].elo, 1.0 - score),
    }


def _invalid(match: Mapping[str, Any], bot: str) -> int:
    """How many of the bot's turns were invalid, or did not come in time while it was connected."""
    about = match["match"]
    late = match.get("reason") == "timeout" and about.get("evidence", {}).get("bot") == bot
    return int(about.get("strikes", {}).get(bot, 0)) + late


def stored_ranks(match: Mapping[str, Any]) -> dict[str, float]:
    """Bot -> rank in a stored match; smaller is better, equal is a draw.

    Taken from `match.places` if the match has it (a bot missing there comes last), otherwise from `victor`.
    """
    players, victor = match["players"], match["victor"]
    places = match["match"].get("places")
    if places is not None:
        last = max(places.values(), default=0) + 1
        return {bot: places.get(bot, last) for bot in players}
    return {bot: 1 if victor in (None, bot) else 2 for bot in players}
