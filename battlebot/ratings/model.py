"""How a match changes the ratings of those who played it (Weng and Lin 2011, Plackett-Luce). Pure; openskill only here.

R. C. Weng, C.-J. Lin: A Bayesian Approximation Method for Online Ranking. JMLR 12 (2011), algorithm 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openskill.models import PlackettLuce

from battlebot.ratings.rating import MU, SIGMA, Rating

# Weng and Lin's own scale. tau keeps sigma from vanishing, so that a bot that was improved can still rise
MODEL = PlackettLuce(mu=MU, sigma=SIGMA, beta=SIGMA / 2, tau=MU / 300)

NEWCOMER = Rating()


def rated(before: Mapping[str, Rating], match: Mapping[str, Any]) -> dict[str, Rating]:
    """The new ratings of those who played a stored match; a bot without a rating in `before` is a newcomer.

    Nobody's rating moves by a void match, or by one of a bot against itself.
    """
    places = places_of(match)
    if match["match"]["void"] or len(places) < 2:
        return {}
    bots = list(places)
    old = [before.get(bot, NEWCOMER) for bot in bots]
    teams = [[MODEL.rating(rating.mu, rating.sigma)] for rating in old]
    new = MODEL.rate(teams, ranks=[float(places[bot]) for bot in bots])
    return {
        bot: Rating(team[0].mu, team[0].sigma, rating.matches + 1)
        for bot, team, rating in zip(bots, new, old, strict=True)
    }


def places_of(match: Mapping[str, Any]) -> dict[str, float]:
    """bot -> place, smaller is better, equal is a draw; of a stored match.

    From `match.places` where the match has it (a bot that is missing there comes after all others), else from `victor`.
    """
    players, victor = match["players"], match["victor"]
    places = match["match"].get("places")
    if places is not None:
        last = max(places.values(), default=0) + 1
        return {bot: places.get(bot, last) for bot in players}
    return {bot: 1 if victor in (None, bot) else 2 for bot in players}
