"""Tasks about ratings: one process at a time brings a game's up to date; a sweep does so for all games."""

from __future__ import annotations

import structlog
from celery import shared_task

from battlebot.errors import Unavailable
from tasks.workbench import Workbench, workbench

log = structlog.get_logger()

SWEEP = "rating sweep"
CHECK_AGAIN_S = 300.0  # after a check of all matches that failed, or whose process died: it may have taken a minute


@shared_task(name="tasks.ratings.rate")
def rate(game: str) -> int:
    """Applies the matches archived since the last time; returns how many. Idempotent."""
    try:
        return _rate(workbench(), game)
    except Unavailable as error:
        log.warning("ratings.put_off", game=game, error=str(error))
        return 0


@shared_task(name="tasks.ratings.rebuild")
def rebuild(game: str) -> int:
    """Applies all matches of the game anew, say because one became void; returns how many were applied here."""
    try:
        bench = workbench()
        # a process that is rating now sees this before it is done
        bench.storage.ratings.mark_stale(game)
        return _rate(bench, game)
    except Unavailable as error:
        log.warning("ratings.put_off", game=game, error=str(error))
        return 0


@shared_task(name="tasks.ratings.sweep")
def sweep() -> None:
    """Brings every game's ratings up to date; once an hour, checks all its matches.

    Late and voided ones are found by that, however old. Redis remembers the hour: beat may be restarted more often.
    """
    try:
        bench = workbench()
        # one at a time: games that are all made anew take long, and the other processes have other work
        bench.mutex(SWEEP).run(lambda: sum(_rate_alone(bench, game) for game in bench.storage.ratings.games()))
    except Unavailable as error:
        log.warning("ratings.sweep_put_off", error=str(error))


def _rate_alone(bench: Workbench, game: str) -> int:
    try:
        return bench.mutex(f"ratings:{game}").run(lambda: _rate_and_check(bench, game))
    except Unavailable:
        raise
    except Exception:
        # an error in one game must not keep the others from their ratings
        log.exception("ratings.failed", game=game)
        return 0


def _rate_and_check(bench: Workbench, game: str) -> int:
    checks = bench.rating_checks.attempt(game, CHECK_AGAIN_S)
    applied = bench.rater.rate_new(game, checks)
    if checks:
        bench.rating_checks.done(game)
    return applied


def _rate(bench: Workbench, game: str) -> int:
    def work() -> int:
        return bench.mutex(f"ratings:{game}").run(lambda: bench.rater.rate_new(game))

    # made anew as in a sweep: if one game's are, a sweep does it afterwards
    return bench.mutex(SWEEP).run(work) if bench.rater.is_stale(game) else work()
