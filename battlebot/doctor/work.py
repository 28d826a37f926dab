"""The work in progress: nodes, workers, waiting tasks, and matches that are stuck somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from battlebot.arena.live.inspection import ArenaInspection
from battlebot.arena.live.queue import Queues
from battlebot.arena.places import TCP, WEB, door_of
from battlebot.config import Settings
from battlebot.contests.contest import OVER
from battlebot.contests.formats import format_names
from battlebot.doctor.finding import Finding, ok, warning, wrong
from battlebot.errors import Unavailable
from battlebot.redisio.probes import TASKS_WAIT_S
from battlebot.redisio.tasklists import TaskLists
from battlebot.redisio.unpaired import Unpaired
from battlebot.storage import Storage
from battlebot.storage.inspection import MongoInspection

STUCK_S = 30.0  # the sweep looks every second; three of its rounds may fall into an outage
UNARCHIVED_S = 30.0
ABANDONED_S = 60.0  # the sweep releases a meeting without a match after a third of this
UNRATED_S = 120.0
SHOWN = 5

DOORS = {WEB: "web", TCP: "TCP"}

Workers = Callable[[], list[str]]


def processes(arena: ArenaInspection, settings: Settings, workers: Workers) -> Iterator[Finding]:
    """Checks nodes by their heartbeats, workers by a ping, and beat by the sweeps that it brings about.

    Raises Unavailable.
    """
    yield _nodes(arena.nodes(), settings.node_timeout_s)
    try:
        names = workers()
    except Exception as error:
        raise Unavailable(f"The broker does not answer ({type(error).__name__}).") from error
    names = [name for name in names if not name.startswith(TaskLists.BOTS)]
    if names:
        yield ok("workers", f"{_counted(len(names), 'worker')}.", workers=names)
    else:
        yield wrong("workers", "No worker answers: no contest is paired, nothing is archived.", workers=[])
    if arena.swept():
        yield ok("sweep", "Made within the last seconds: beat sends, and a worker takes.")
    else:
        yield wrong("sweep", "None was made lately: is beat running?" if names else "None was made lately.")


def _nodes(ages: dict[str, float], timeout_s: float) -> Finding:
    alive = {node: round(age_s, 1) for node, age_s in ages.items() if age_s <= timeout_s}
    dead = sorted(ages.keys() - alive.keys())
    doors = Counter(door_of(node) for node in alive)
    facts = {"alive": alive, "dead": dead, "doors": dict(doors)}
    live = ", ".join(_counted(doors[door], f"{name} node") for door, name in DOORS.items() if doors[door])
    early = [node for node, age_s in ages.items() if age_s < -1.0]
    if early:
        return wrong("nodes", f"The clock of {_listed(early)} is ahead of this machine's.", **facts)
    if not doors[WEB]:
        # they have the API and the pages, too
        return wrong("nodes", f"No web node lives{f'; {live}' if live else ''}.", **facts)
    if dead:
        return warning("nodes", f"{live}; {_listed(dead)} died, and has not been swept up yet.", **facts)
    return ok("nodes", f"{live}.", **facts)


def tasks(lists: TaskLists, now_s: float) -> Finding:
    """How many tasks wait, and for how long."""
    lengths, oldest_s = lists.lengths(), lists.oldest_s()
    waits_s = 0.0 if oldest_s is None else max(0.0, now_s - oldest_s)
    facts = {"waiting": {str(priority): count for priority, count in lengths.items()}, "oldestS": round(waits_s, 1)}
    count = sum(lengths.values())
    part = "tasks" if lists.queue == TaskLists.QUEUE else f"tasks of {lists.queue}"
    if waits_s > TASKS_WAIT_S:
        needs = f" They need a `battlebot worker --queue {lists.queue}`." if part != "tasks" else ""
        return wrong(part, f"{_counted(count, 'task')} wait, the first for {waits_s:.0f} s.{needs}", **facts)
    return ok(part, f"{_counted(count, 'task')} waiting.", **facts)


def waiting(queues: Queues) -> Finding:
    """How many bots wait for an opponent, by queue."""
    counts = {name: len(queues.tickets(name)) for name in queues.names()}
    return ok("queues", f"{_counted(sum(counts.values()), 'bot')} waiting for a match.", waiting=counts)


def pairings(failed: Unpaired) -> Finding:
    """Whether there are contests that workers tried to pair lately, and could not."""
    found = failed.queues()
    if found:
        sentence = f"It failed within the last minute in {_listed(found)}. The worker's log says why."
        return wrong("pairing", sentence, contests=found)
    return ok("pairing", "None has failed lately.", contests=[])


def matches(arena: ArenaInspection, storage: Storage) -> Iterator[Finding]:
    """Checks for live matches that nobody looks after, ended ones that nobody archives, meetings that nobody plays."""
    overdue = {match: round(late_s, 1) for match, late_s in arena.overdue(STUCK_S).items()}
    troubles = {match: round(since_s, 1) for match, since_s in arena.troubles().items()}
    live = arena.live()
    facts = {"live": live, "overdue": overdue, "troubles": troubles}
    if troubles:
        sentence = f"{len(troubles)} of {live} cannot be looked after: {_listed(list(troubles))}."
        yield wrong("live matches", f"{sentence} The worker's log says why.", **facts)
    elif overdue:
        sentence = f"{len(overdue)} of {live} should have been looked after long ago: {_listed(list(overdue))}."
        yield wrong("live matches", sentence, **facts)
    else:
        yield ok("live matches", f"{live} being played.", **facts)
    yield _unarchived(arena)
    yield _set_aside(arena)
    yield _meetings(arena, storage)


def _unarchived(arena: ArenaInspection) -> Finding:
    count, waits_s = arena.finished()
    facts = {"waiting": count, "oldestS": None if waits_s is None else round(waits_s, 1)}
    if waits_s is not None and waits_s > UNARCHIVED_S:
        return wrong("archive", f"{count} ended and not archived, the first {waits_s:.0f} s ago.", **facts)
    return ok("archive", f"{_counted(count, 'ended match', 'ended matches')} to be archived.", **facts)


def _set_aside(arena: ArenaInspection) -> Finding:
    found = arena.set_aside()
    if found:
        sentence = f"{len(found)} could not be archived or gone on with, and lie in Redis: {_listed(found)}."
        return wrong("set aside", f"{sentence} The worker's log says why.", matches=found)
    return ok("set aside", "None.", matches=[])


def _meetings(arena: ArenaInspection, storage: Storage) -> Finding:
    ids = storage.meetings.open_since(ABANDONED_S)
    missing = sorted(set(ids) - arena.present(ids) - storage.games.archived(ids))
    if missing:
        return wrong(
            "meetings", f"Open without a match: {_listed(missing)}. The sweep should release them.", open=missing
        )
    return ok("meetings", "None is open without a match.", open=[])


def ratings(inspection: MongoInspection) -> Finding:
    """Whether the ratings include the stored matches."""
    behind = {game: row for game, row in inspection.unrated().items() if row[1] > UNRATED_S}
    facts = {"unrated": {game: count for game, (count, _) in behind.items()}}
    if behind:
        rows = ", ".join(f"{game} by {count}" for game, (count, _) in behind.items())
        return wrong("ratings", f"They are behind: {rows} matches.", **facts)
    return ok("ratings", "They hold all matches.", **facts)


def formats(inspection: MongoInspection) -> Finding:
    """Whether the format of every stored contest is installed."""
    found = inspection.contests_beside(format_names())
    facts = {"contests": [f"{game}/{name}" for game, name, _, _ in found]}
    if not found:
        return ok("formats", "Those of all contests are installed.", **facts)
    going_on = [row for row in found if row[3] not in OVER]
    named = _listed([f"{name} of {game} ({kind})" for game, name, kind, _ in going_on or found])
    if going_on:
        return wrong("formats", f"Contests that cannot go on, since their format is not installed: {named}.", **facts)
    return warning("formats", f"Contests without a ranking, since their format is not installed: {named}.", **facts)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _counted(count: int, noun: str, many: str | None = None) -> str:
    return f"{count} {noun if count == 1 else many or noun + 's'}"
