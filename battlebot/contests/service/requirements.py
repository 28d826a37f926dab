"""Checks a contest before it is scheduled, changed or run, and before a bot is withdrawn. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import structlog

from battlebot.contests.contest import MOST_ENTRANTS, Contest
from battlebot.contests.formats import format_named
from battlebot.contests.installed import format_of
from battlebot.errors import BadMessage, Refused
from battlebot.rules.contract import RAISED_OUTSIDE, Game
from battlebot.storage import Storage

log = structlog.get_logger()

_ANY_TWO = ("/1", "/2")  # placeholders for bots still to come; no bot can have these names


def check_format(fields: Mapping[str, Any]) -> None:
    """Checks that the format which an organiser names, if any, exists. Raises Refused."""
    if "format" in fields:
        format_named(fields["format"])


def check_can_run(contest: Contest) -> None:
    """Checks that a contest that is to run can be paired. Raises FormatMissing."""
    if contest.state == "running":
        format_of(contest)


@dataclass(frozen=True)
class Requirements:
    """Every method raises Refused with the `field` that is not acceptable, and Unavailable."""

    registry: Mapping[str, Game]
    storage: Storage

    def of_contest(self, contest: Contest) -> None:
        """Checks all its fields together. Also raises BadMessage, for an option of the game."""
        form, listed = format_of(contest), contest.listed
        if form.CLOSED and contest.is_open:
            raise Refused(f"The format {form.NAME} needs a list of entrants.", field="entrants")
        if len(listed) > MOST_ENTRANTS:
            raise Refused(f"A contest takes {MOST_ENTRANTS} entrants at most.", field="entrants")
        self.of_bots(contest.game, listed)
        form.checked_config(contest.config, listed, contest.meetings)
        self._of_the_start(contest, listed)
        # a contest that was started by hand may have begun before its planned start
        starts, ends = contest.started_at or contest.starts_at, contest.ends_at
        if starts is not None and ends is not None and ends <= starts:
            raise Refused("endsAt must be later than startsAt.", field="endsAt")

    def of_bots(self, game: str, bots: Sequence[str]) -> None:
        """Checks that they are registered."""
        known = self.storage.bots.known(game, bots)
        unknown = [bot for bot in bots if bot not in known]
        if unknown:
            raise Refused(f"Not registered for {game}: {', '.join(map(repr, unknown[:10]))}.", field="entrants")

    def of_those_who_stay(self, contest: Contest) -> None:
        """Checks, if all meet together, that the game lets the others begin without the withdrawn bots."""
        if format_of(contest).TOGETHER:
            self._of_the_start(contest, [bot for bot in contest.listed if bot not in contest.withdrawn])

    def _of_the_start(self, contest: Contest, bots: Sequence[str]) -> None:
        """Checks that the game lets these bots begin: all of them if all meet together, else each with its neighbour.

        Options may be made for certain bots, so that only these can begin.
        """
        rules, together = self.registry[contest.game], format_of(contest).TOGETHER
        options = self._options(rules, contest.options)
        # bots of a battle may be entered one by one; with fewer than two nothing begins
        meet = [bots] if together else pairwise(bots if len(bots) > 1 else [*bots, *_ANY_TWO][:2])
        problems = (self._objection(rules, list(some), options) for some in meet if len(some) > 1)
        problem = next(filter(None, problems), None)
        if problem:
            raise Refused(f"{problem.rstrip('.')}.", field="entrants" if together else "options")

    def _options(self, rules: Game, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return rules.options_with_defaults(given)
        except BadMessage as error:
            raise BadMessage(str(error), field="options", **error.details) from None
        except RAISED_OUTSIDE as error:
            log.exception("game.failed", game=rules.name, function="check_options")
            sentence = "The game cannot say whether these options go together: its code fails"
            raise Refused(f"{sentence} ({type(error).__name__}).", field="options") from error

    def _objection(self, rules: Game, players: Sequence[str], options: Mapping[str, Any]) -> str | None:
        try:
            return rules.objection(players, options)
        except RAISED_OUTSIDE as error:
            log.exception("game.failed", game=rules.name, function="objection")
            return f"The game cannot say whether these bots may start: its code fails ({type(error).__name__})."
