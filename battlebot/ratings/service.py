"""Keeps the ratings of the stored matches: applies each once, in the order in which they ended. Uses storage.

Any number of processes may do this at once, and each may be killed at any time: a write is atomic, and only made if
nobody has written since the read. That one process at a time does it (`tasks.ratings`) only saves work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import structlog

from battlebot.errors import Unavailable
from battlebot.ratings.model import rated
from battlebot.ratings.progress import ORIGIN, Progress
from battlebot.ratings.rating import Rating
from battlebot.storage import Storage

log = structlog.get_logger()

BATCH = 500  # matches applied in one transaction
SAME = 1e-9
FORM = 2  # the version of what is kept; ratings of another version are made anew


@dataclass(frozen=True, slots=True)
class Kept:
    """How far the kept ratings of a game have come; `stale`: they must be made from the start."""

    revision: int
    stale: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where the kept ratings of a game differ from what a rebuild makes: rows `{bot_id, kept, rebuilt}`.

    `kept` and `rebuilt` are a rating's fields (`Rating.as_dict`) or None. `is_due`: they may differ until they are made
    anew, because a match was archived late or became void.
    """

    rows: list[dict[str, Any]]
    is_due: bool


class Rater:
    """The ratings of all games. Every method raises Unavailable when MongoDB does not answer."""

    def __init__(self, storage: Storage) -> None:
        self._ratings = storage.ratings

    def rate_new(self, game: str, thorough: bool = False) -> int:
        """Applies the matches that are not in the ratings yet; returns how many this call applied.

        If a match was archived late, or became void after it was rated, all are applied anew. Only the latest matches
        (`Progress.since`) are checked for that, with `thorough` all.
        """
        self._look_back(game, thorough)
        applied, most = 0, BATCH
        while True:
            kept = self._kept(game)
            if kept.stale:
                applied += self._rate_all(game, kept)
                continue
            # if this is out of date when it is to be written, the revision has moved, and nothing is written
            matches = list(islice(self._ratings.matches(game, kept.progress.at.seq), most))
            if not matches:
                return applied
            try:
                applied += self._apply(game, kept, matches)
            except Unavailable:
                if len(matches) == 1:
                    raise
                # if MongoDB answers the next question, these were too many for the seconds that a transaction may last
                most = len(matches) // 2
                log.warning("ratings.halved", game=game, matches=most)

    def is_stale(self, game: str) -> bool:
        """Whether all its matches are to be applied anew, which may take long."""
        return self._kept(game).stale

    def rebuild(self, game: str) -> int:
        """Applies all matches anew, to bots that begin as newcomers; returns how many this call applied.

        If another process does it meanwhile, its result is as good: it began after this call did.
        """
        self._ratings.mark_stale(game)
        return self.rate_new(game)

    def compare(self, game: str) -> Comparison:
        """Compares the kept ratings with what a rebuild would make of the matches up to the cursor. Changes nothing."""
        document, rows = self._ratings.together(game)
        kept, at = _ratings(rows), Progress.from_document(document).at
        made, progress = self._made(game, at.seq)
        differing = [
            {"bot_id": bot, "kept": _shown(kept.get(bot)), "rebuilt": _shown(made.get(bot))}
            for bot in sorted({*kept, *made})
            if not _same(kept.get(bot), made.get(bot))
        ]
        # with other numbers of matches, other matches were rated
        return Comparison(differing, is_due=document.get("stale", False) or progress.at != at)

    def _look_back(self, game: str, thorough: bool) -> None:
        kept = self._kept(game)
        since = ORIGIN if thorough else kept.progress.since
        if kept.stale or kept.progress.is_as_counted(
            since, *self._ratings.counts(game, since.seq, kept.progress.at.seq)
        ):
            return
        log.info("ratings.overtaken", game=game, seq=kept.progress.at.seq)
        self._ratings.mark_stale(game, kept.revision)

    def _kept(self, game: str) -> Kept:
        document = self._ratings.cursor(game)
        # ratings kept by an earlier version lack numbers: all are made anew
        stale = document["stale"] or document.get("form") != FORM
        return Kept(document["revision"], stale, Progress.from_document(document))

    def _apply(self, game: str, kept: Kept, matches: list[dict[str, Any]]) -> int:
        players = {bot for match in matches for bot in match["players"]}
        before = _ratings(self._ratings.of_bots(game, sorted(players)))
        after = dict(before)
        for match in matches:
            after.update(rated(after, match))
        progress = kept.progress.over(matches)
        moved = [row for row in _rows(after) if after[row["bot_id"]] != before.get(row["bot_id"])]
        if not self._ratings.move(game, kept.revision, _cursor(progress), moved):
            return 0
        return progress.at.counted - kept.progress.at.counted

    def _rate_all(self, game: str, kept: Kept) -> int:
        made, progress = self._made(game)
        if not self._ratings.replace(game, kept.revision, _cursor(progress), _rows(made)):
            return 0
        log.info("ratings.rebuilt", game=game, matches=progress.at.counted, bots=len(made))
        return progress.at.counted

    def _made(self, game: str, until: int | None = None) -> tuple[dict[str, Rating], Progress]:
        ratings: dict[str, Rating] = {}
        progress = Progress()
        stream = self._ratings.matches(game, ORIGIN.seq, until)
        while matches := list(islice(stream, BATCH)):
            for match in matches:
                ratings.update(rated(ratings, match))
            progress = progress.over(matches)
        return ratings, progress


def _ratings(rows: Iterable[Mapping[str, Any]]) -> dict[str, Rating]:
    return {row["bot_id"]: Rating.of(row) for row in rows}


def _rows(ratings: Mapping[str, Rating]) -> Iterator[dict[str, Any]]:
    return ({"bot_id": bot, **_shown(rating), "ordinal": rating.ordinal} for bot, rating in ratings.items())


def _shown(rating: Rating | None) -> Any:
    return None if rating is None else rating.as_dict()


def _same(one: Rating | None, other: Rating | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(abs(getattr(one, name) - getattr(other, name)) <= SAME for name in Rating.__slots__)


def _cursor(progress: Progress) -> dict[str, Any]:
    return {**progress.as_document(), "form": FORM}
