"""Redis and MongoDB themselves: versions, settings, clocks, indexes, room on the disk."""

from __future__ import annotations

from collections.abc import Iterator

from battlebot.config import Settings
from battlebot.doctor.finding import Finding, ok, warning, wrong
from battlebot.redisio.inspection import CLOCKS_APART_S, RedisInspection, RedisServer
from battlebot.storage import Storage
from battlebot.storage.inspection import MongoInspection

OLDEST_REDIS = 7
OLDEST_MONGODB = 6
MEMORY_USED = 0.9


def redis_server(inspection: RedisInspection) -> Iterator[Finding]:
    """Redis's version, what its user may do, settings and clock."""
    server = inspection.server()
    facts = {"name": server.name, "version": server.version}
    called = f"{server.name} {server.version}"
    if server.clustered:
        yield wrong("redis", f"{called} is a Redis Cluster (cluster-enabled), which is not supported.", **facts)
    elif int(server.version.split(".")[0]) < OLDEST_REDIS:
        yield warning("redis", f"{called} is older than what Battlebot is tested with.", **facts)
    else:
        yield ok("redis", f"{called}.", **facts)
    yield _redis_rights(inspection.lacking())
    yield _redis_settings(server)
    yield _memory(server)
    yield clock("redis clock", server.name, *inspection.clock())


def _redis_rights(lacking: list[str]) -> Finding:
    if lacking:
        return wrong("redis rights", f"The user of REDIS_URL may not use {', '.join(lacking)}.", lacking=lacking)
    return ok("redis rights", "All that were asked for.", lacking=[])


def _redis_settings(server: RedisServer) -> Finding:
    facts = {
        "appendonly": server.append_only,
        "appendfsync": server.fsync,
        "maxmemory-policy": server.policy,
        "writes": server.writes,
    }
    faults = []
    if not server.append_only:
        faults.append("appendonly is off: after a crash live matches are gone")
    if server.policy != "noeviction":
        faults.append(f"maxmemory-policy is {server.policy}: live matches may be thrown away")
    if not server.writes:
        faults.append("the last write of the append-only file failed: is the disk full?")
    if faults:
        return wrong("redis settings", f"{'; '.join(faults)}.", **facts)
    if server.fsync not in ("always", None):
        sentence = f"appendfsync is {server.fsync}: after a crash a turn that was acknowledged may be gone."
        return warning("redis settings", sentence, **facts)
    fsync = server.fsync or "unknown: it does not let us ask"
    return ok("redis settings", f"appendonly, appendfsync {fsync}, noeviction.", **facts)


def _memory(server: RedisServer) -> Finding:
    facts = {"usedBytes": server.memory, "mostBytes": server.most_memory}
    used = f"{server.memory / 1e6:.1f} MB"
    if server.most_memory and server.memory > MEMORY_USED * server.most_memory:
        return wrong("redis memory", f"{used} of {server.most_memory / 1e6:.1f} MB: soon it takes no writes.", **facts)
    return ok("redis memory", f"{used}.", **facts)


def mongodb_server(inspection: MongoInspection) -> Iterator[Finding]:
    """MongoDB's version, replica set, clock and indexes."""
    server = inspection.server()
    facts = {"version": server.version, "set": server.replica_set, "primary": server.primary}
    if server.replica_set is None:
        yield wrong(
            "mongodb", f"MongoDB {server.version} is in no replica set: the archive needs transactions.", **facts
        )
    elif not server.primary:
        yield wrong("mongodb", f"MongoDB {server.version} answers, but is not the primary.", **facts)
    elif int(server.version.split(".")[0]) < OLDEST_MONGODB:
        yield warning("mongodb", f"MongoDB {server.version} is older than what Battlebot is tested with.", **facts)
    else:
        yield ok("mongodb", f"MongoDB {server.version}, primary of {server.replica_set}.", **facts)
    yield clock("mongodb clock", "MongoDB", *inspection.clock())
    missing, altered = inspection.wrong_indexes()
    sentences = []
    if missing:
        sentences.append(f"Missing: {', '.join(missing)}. A web node makes them when it starts.")
    if altered:
        kind = "Of another kind, or under another name"
        sentences.append(f"{kind}: {', '.join(altered)}. Drop them, and start a web node: before, none starts.")
    if sentences:
        yield wrong("indexes", " ".join(sentences), missing=missing, altered=altered)
    else:
        yield ok("indexes", "All there.", missing=[], altered=[])


def disk(storage: Storage, settings: Settings) -> Finding:
    """Whether MongoDB's disk has room."""
    free_mb = storage.room.free_mb()
    facts = {"freeMb": None if free_mb is None else round(free_mb), "leastMb": settings.min_free_mb}
    if free_mb is None:
        return warning("disk", "MongoDB does not say how much room its disk has.", **facts)
    free = f"{free_mb / 1000:.1f} GB free on MongoDB's disk"
    if free_mb < settings.min_free_mb:
        return wrong("disk", f"{free}: nothing new is taken.", **facts)
    if free_mb < 5 * settings.min_free_mb:
        return warning("disk", f"{free}: below {settings.min_free_mb} MB nothing new is taken.", **facts)
    return ok("disk", f"{free}.", **facts)


def clock(part: str, whose: str, ahead_s: float, unsure_s: float) -> Finding:
    """Whether a clock agrees with ours, as far as can be told."""
    facts = {"aheadS": round(ahead_s, 3), "unsureS": round(unsure_s, 3)}
    words = "ahead of" if ahead_s > 0 else "behind"
    sentence = f"{whose}'s clock is {abs(ahead_s):.3f} s {words} this machine's."
    return (wrong if abs(ahead_s) - unsure_s > CLOCKS_APART_S else ok)(part, sentence, **facts)
