"""Tasks about ratings: those of one game brought up to date by one process at a time, and a sweep over all games."""

from __future__ import annotations

import structlog
from celery import shared_task

from battlebot.errors import Unavailable
from tasks.workbench import Workbench, workbench

log = structlog.get_logger()


@shared_task(name="tasks.ratings.rate")
def rate(game: str) -> int:
    """Applies the matches that were archived since; answers how many. Run twice, it changes nothing."""
    try:
        return _rate(workbench(), game)
    except Unavailable as error:
        log.warning("ratings.put_off", game=game, error=str(error))
        return 0


@shared_task(name="tasks.ratings.rebuild")
def rebuild(game: str) -> int:
    """Has all matches of the game applied anew, say because one became void; answers how many were applied here."""
    try:
        bench = workbench()
        # a process that rates right now sees this before it leaves
        bench.storage.ratings.mark_stale(game)
        return _rate(bench, game)
    except Unavailable as error:
        log.warning("ratings.put_off", game=game, error=str(error))
        return 0


@shared_task(name="tasks.ratings.sweep")
def sweep() -> None:
    """Brings every game's ratings up to date, and looks over all its matches for what was missed."""
    try:
        bench = workbench()
        for game in bench.storage.ratings.games():
            _rate_alone(bench, game)
    except Unavailable as error:
        log.warning("ratings.sweep_put_off", error=str(error))


def _rate_alone(bench: Workbench, game: str) -> None:
    try:
        _rate(bench, game, thorough=True)
    except Unavailable:
        raise
    except Exception:
        # what is wrong with one game must not keep the others from their ratings
        log.exception("ratings.failed", game=game)


def _rate(bench: Workbench, game: str, thorough: bool = False) -> int:
    return bench.solo(f"ratings:{game}").run(lambda: bench.rater.rate_new(game, thorough))
