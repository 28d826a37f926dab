"""Tasks about matches: the archive of those that ended, and the sweeps for what nobody looks after."""

from __future__ import annotations

import structlog
from celery import shared_task

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.aside import set_aside
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from tasks.workbench import Workbench, match_bench, workbench

log = structlog.get_logger()

BATCH_BYTES = 16_000_000  # of records in one transaction; in a worker's memory they take about ten times as much


@shared_task(name="tasks.matches.archive")
def archive() -> int:
    """Stores the matches that ended, batch by batch; returns how many were new. Idempotent."""
    try:
        bench = workbench()
        return bench.mutex("archive").run(lambda: _archive_all(bench))
    except Unavailable as error:
        # they stay on the finished list, and the sweep asks again
        log.warning("archive.put_off", error=str(error))
        return 0


@shared_task(name="tasks.matches.sweep")
def sweep() -> None:
    """Handles in live matches what nobody noticed. Needs no MongoDB."""
    try:
        bench = match_bench()
        bench.mutex("sweep").run(bench.sweeper.sweep)
    except Unavailable as error:
        log.warning("sweep.put_off", error=str(error))


@shared_task(name="tasks.matches.tidy")
def tidy() -> None:
    """Archives what is left, and asks for attendance and for ratings put off."""
    try:
        bench = workbench()
        bench.rests.between("tidying", lambda: _tidy(bench))
    except Unavailable as error:
        log.warning("tidying.put_off", error=str(error))


def _tidy(bench: Workbench) -> None:
    if bench.storage.bots.any_stateless():
        bench.requests.attendance()
    if bench.finished.ids(1):
        archive()
    for game in bench.rating_throttle.due():
        bench.requests.rating(game)


def _archive_all(bench: Workbench) -> int:
    archived, most = 0, bench.settings.archive_batch
    bench.finished.begin_archiving()
    while ids := bench.finished.ids(most):
        together = bench.finished.first(ids, BATCH_BYTES)
        try:
            archived += _archive_batch(bench, together)
        except Unavailable as error:
            if len(together) == 1:
                raise
            # would it store anything now? then these are too many for the seconds that a transaction may last
            bench.storage.ping()
            bench.storage.archive.check()
            most = len(together) // 2
            log.warning("archive.halved", matches=most, error=str(error))
            continue
        if len(together) == len(ids) < most:
            # matches that ended meanwhile have asked for another run, in which more of them share a batch
            break
    return archived


def _archive_batch(bench: Workbench, match_ids: list[str]) -> int:
    try:
        return _archive_together(bench, match_ids)
    except Unavailable:
        raise
    except Exception:
        if len(match_ids) == 1:
            # is it this match, or would MongoDB store no other either?
            bench.storage.archive.check()
            # a match that cannot be stored must not hold up the others; it is kept for an operator to look at
            log.exception("match.set_aside", match=match_ids[0])
            # in a contest it is played again
            bench.storage.meetings.lost(match_ids, "the match could not be stored")
            set_aside(bench.store, match_ids[0])
            return 0
    return sum(_archive_batch(bench, [match_id]) for match_id in match_ids)


def _archive_together(bench: Workbench, match_ids: list[str]) -> int:
    ended = bench.finished.read(match_ids)
    documents = [game_document(row) for row in ended]
    fresh = bench.storage.archive.store(documents)
    bench.finished.retire(match_ids)
    touched = {(document["game"], document["contest"]) for document in documents}
    for game, contest in touched:
        bench.bus.publish(keys.game_events(game), b"archived")
        if contest is not None:
            bench.bus.publish(keys.contest_events(game, contest), b"archived")
    # unrated matches ask for no ratings: they are passed over with the next rated ones, or by the sweep
    played = {document["game"] for document in documents if not document["match"].get("unrated")}
    for game in sorted(played):
        if bench.rating_throttle.now(game):
            bench.requests.rating(game)
    log.info("matches.archived", matches=fresh)
    return len(fresh)
