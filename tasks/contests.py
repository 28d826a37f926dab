"""Tasks about contests: the pairing, one at a time per contest, and the sweep over all contests."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

import structlog
from celery import shared_task

from battlebot.contests.contest import Contest
from battlebot.errors import BadMessage, FormatMissing, Unavailable, UnknownGame
from battlebot.redisio import keys
from battlebot.redisio.bookmark import Bookmark
from battlebot.redisio.tasklists import TaskLists
from battlebot.redisio.unpaired import Unpaired
from battlebot.runtime import sharedtime
from battlebot.runtime.loglimit import LogLimit
from tasks.celeryapp import TASK_POLICIES
from tasks.workbench import Workbench, workbench

log = structlog.get_logger()

ABANDONED_S = 20.0  # a meeting reserved this long ago whose match cannot be found, or was set aside, is given up
STARVED_S = 10.0  # a pairing that has waited for so long may expire before a worker has time for it

MOST_PUT_OFF = 2  # contests in a row; then MongoDB or Redis is away, and each other would only wait for it too

may_tell = LogLimit()


@shared_task(name="tasks.contests.pair")
def pair(game: str, contest: str) -> int:
    """Pairs the bots that wait in a contest; returns how many matches began."""
    work = f"pair:{keys.queue_name(game, contest)}"
    try:
        bench = workbench()
        return bench.mutex(work).run(lambda: _pair(bench, game, contest))
    except Unavailable as error:
        log.warning("pairing.put_off", game=game, contest=contest, error=str(error))
    except Exception as error:
        # the sweep asks again every second, as long as somebody waits
        if may_tell(("pair", game, contest)):
            unforeseen = not isinstance(error, BadMessage | FormatMissing | UnknownGame)
            log.error("contest.not_paired", game=game, contest=contest, error=str(error), exc_info=unforeseen)
    return 0


def _pair(bench: Workbench, game: str, contest: str) -> int:
    """Like `pair`; notes for operators that it failed, unless a store was away. Raises what it failed with."""
    try:
        return bench.pairer.pair(game, contest)
    except Unavailable:
        raise
    except Exception:
        # if Redis is away now, the next pairing that fails notes it
        with suppress(Unavailable):
            Unpaired(bench.client).note(keys.queue_name(game, contest))
        raise


@shared_task(name="tasks.contests.sweep")
def sweep() -> None:
    """Starts and ends contests on time, asks for pairings where bots wait, and closes meetings of absent bots."""
    try:
        bench = workbench()
        bench.rests.between("contests", lambda: bench.mutex("contests").run(lambda: _look_after(bench)))
        _pair_if_starved(bench)
    except Unavailable as error:
        log.warning("contests.sweep_put_off", error=str(error))


def _look_after(bench: Workbench) -> int:
    _release_abandoned(bench)
    bench.organiser.tick()
    for game, contest in _waited_in(bench):
        # its own task: a long pairing must not hold up the clock of other contests
        bench.requests.pairing(game, contest)
    bench.organiser.stop_void()
    return _look_at_all(bench)


def _look_at_all(bench: Workbench) -> int:
    """Looks at the running contests with a list, beginning with those that the last pass had no time for."""
    contests = {keys.queue_name(*contest.where): contest for contest in bench.storage.contests.running_closed()}
    done, put_off = 0, 0
    for name in Bookmark(bench.client, "contests").through(contests):
        try:
            done += _look_at(bench, contests[name])
            put_off = 0
        except Unavailable as error:
            put_off += 1
            if put_off == MOST_PUT_OFF:
                raise
            if may_tell(("look", name)):
                log.warning("contest.look_put_off", contest=name, error=str(error))
    return done


def _waited_in(bench: Workbench) -> Sequence[tuple[str, str]]:
    """Returns the contests in which bots wait, in random order.

    Whoever is first gets the next place at an address at which several contests ask bots.
    """
    named = map(keys.game_and_contest, bench.queues.names())
    where = [(game, contest) for game, contest in named if contest is not None]
    return secrets.SystemRandom().sample(where, len(where))


def _pair_if_starved(bench: Workbench) -> None:
    """Pairs in one contest, another one each time, if requested pairings wait for long.

    Then the workers have only time for what goes first, such as this sweep, and all such requests would expire.
    """
    sent_s = TaskLists(bench.client).oldest_s([TASK_POLICIES["tasks.contests.pair"].priority])
    if sent_s is not None and sharedtime.now_s() - sent_s > STARVED_S:
        for game, contest in _waited_in(bench)[:1]:
            pair(game, contest)


def _look_at(bench: Workbench, contest: Contest) -> int:
    try:
        return bench.absences.look_at(contest)
    except Unavailable:
        raise
    except Exception as error:
        # an error in one contest must not keep the others from going on
        if may_tell(("look", *contest.where)):
            about = {"game": contest.game, "contest": contest.name, "error": str(error)}
            log.error("contest.not_looked_after", **about, exc_info=not isinstance(error, FormatMissing))
        return 0


def _release_abandoned(bench: Workbench) -> None:
    ids = bench.storage.meetings.open_since(ABANDONED_S)
    held = bench.store.held(ids)
    abandoned = [match_id for match_id in ids if match_id not in held]
    if abandoned:
        # one that has been archived meanwhile is not open any more, and stays as it is
        bench.storage.meetings.lost(abandoned)
        log.warning("meetings.released", matches=abandoned)
