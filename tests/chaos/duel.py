"""`python -m chaos.duel`: players of the TCP door come, play, drop out and come back; then every board is checked.

Two nodes with the TCP door, a worker, beat, real stores. Prints a JSON report; exit status 1 if anything is wrong.
"""

from __future__ import annotations

import json
import secrets
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import click
import pymongo
import redis
import structlog
from cluster import Cluster, cluster, wait_for
from partlogs import errors, level

from battlebot.config import Settings, load_settings
from battlebot.embedded.stores import embedded_stores
from battlebot.ratings.service import Rater
from battlebot.storage import Storage
from bench.machine import family
from chaos.accounts import Books, problems, tally
from chaos.duelists import Duelist
from chaos.flatness import Sample, trend
from chaos.soak import EVERY_S, LEAST, SHARE, WARM_UP, measured

GAME = "gomoku"
NODES = 2
SETTLED_S = 90.0  # from when the last player leaves until the last board is stored


@click.command()
@click.option("--minutes", type=float, default=10.0, show_default=True, help="Minutes to play.")
@click.option("--players", type=click.IntRange(min=2), default=20, show_default=True, help="Number of players.")
@click.option("--seed", type=int, help="Repeat what the players of a run do. Default: random.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="Folder to keep logs, diaries and data in. Default: they are removed.",
)
def main(minutes: float, players: int, seed: int | None, keep: Path | None) -> None:
    """Play gomoku at the TCP door with players who come and go, then account for every board."""
    # stdout is for the report
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    seed = secrets.randbits(32) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="duel-") as made:
        folder = keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        with embedded_stores(load_settings({}, None, data=folder / "data", log_format="json", tcp_port=0)) as settings:
            result = run(settings, folder, minutes * 60, players, seed)
    print(json.dumps({"seed": seed, **result}, indent=2))
    sys.exit(bool(result["problems"]))


def run(settings: Settings, folder: Path, seconds: float, players: int, seed: int) -> dict[str, Any]:
    """Plays over empty stores; returns the report."""
    with cluster(settings, folder) as parts:
        nodes = [parts.tcp() for _ in range(NODES)]
        parts.worker()
        parts.beat()
        duelists = [Duelist(f"player{n:02}", [node.address for node in nodes], seed + n) for n in range(players)]
        for duelist in duelists:
            duelist.start()
        began_s, samples = time.monotonic(), defaultdict(list)
        while (passed_s := time.monotonic() - began_s) < seconds:
            time.sleep(min(EVERY_S, seconds - passed_s))
            for number, node in enumerate(nodes, start=1):
                for what, value in measured(family(node.child.pid)).items():
                    samples[f"tcp{number} {what}"].append((time.monotonic() - began_s, value))
        found = settle(settings, duelists)
        books = books_of(settings, duelists)
        (folder / "diaries.json").write_text(json.dumps(books.diaries))
        trends, grown = judged(samples, WARM_UP * seconds)
        found += [*problems(books), *grown, *_complaints(parts)]
        return {"seconds": round(seconds), **tally(books), "trends": trends, "log": _levels(parts), "problems": found}


def judged(samples: dict[str, list[Sample]], warm_up_s: float) -> tuple[dict[str, Any], list[str]]:
    """Returns each quantity's mean and growth, and a sentence for each that grows; skips those with too few samples."""
    lines = {
        what: trend(values, warm_up_s)
        for what, values in samples.items()
        if sum(at_s >= warm_up_s for at_s, _ in values) >= 12
    }
    grown = [
        f"{what} grew by {line.growth:.0f} to {line.mean:.0f}"
        for what, line in lines.items()
        if not line.is_flat(SHARE, LEAST[what.split()[1]])
    ]
    return {what: {"mean": round(line.mean, 1), "growth": round(line.growth, 1)} for what, line in lines.items()}, grown


def settle(settings: Settings, duelists: list[Duelist]) -> list[str]:
    """Has the players leave, and waits until no board runs, none waits to be stored, and nobody is online.

    Returns a sentence if it does not come to that.
    """
    for duelist in duelists:
        duelist.stop()
    for duelist in duelists:
        duelist.join()
    try:
        wait_for(lambda: not any(_leftovers(settings).values()), "all boards to be over", SETTLED_S)
    except AssertionError:
        return [f"the boards were not over after {SETTLED_S:g} s"]
    return []


def _leftovers(settings: Settings) -> dict[str, Any]:
    with redis.Redis.from_url(settings.redis_url) as store:
        named = {
            "deadlines": store.zrange("bb:{0}:deadlines", 0, -1),
            "finished": store.zrange("bb:{0}:finished", 0, -1),
            "setaside": store.smembers("bb:{0}:setaside"),
            "online": store.hkeys("bb:{0}:online"),
            "queue": store.zrange("bb:{0}:queue:gomoku", 0, -1),
            # stored matches stay for a minute, then expire
            **{
                what: [key for key in store.keys(f"bb:{{0}}:{what}:*") if store.ttl(key) == -1]
                for what in ("match", "turns", "empty", "playing")
            },
        }
    return {name: [str(member) for member in members] for name, members in named.items()}


def books_of(settings: Settings, duelists: list[Duelist]) -> Books:
    """Returns what is left, with all boards rated."""
    storage = Storage(settings)
    # rates what is not rated yet, instead of waiting for the worker to do so
    Rater(storage).rate_new(GAME)
    ratings = storage.ratings.page(GAME, 100_000)
    differing = Rater(storage).compare(GAME).rows
    storage.close()
    with pymongo.MongoClient(settings.mongodb_uri) as client:
        games = list(client[settings.mongodb_database]["games"].find({"game": GAME}).sort("match.seq", 1))
    leftovers = {**_leftovers(settings), "ratings that a rebuild would change": differing}
    return Books(games, {duelist.name: duelist.diary for duelist in duelists}, ratings, leftovers)


def _complaints(parts: Cluster) -> list[str]:
    return [line[:3000] for line in errors(parts.logs())]


def _levels(parts: Cluster) -> dict[str, int]:
    """Counts the events of level warning or worse, by level and event."""
    lines = [line for line in parts.logs().splitlines() if level(line) not in ("info", "debug", "")]
    return dict(Counter(f"{level(line)} {json.loads(line).get('event')}"[:80] for line in lines))


if __name__ == "__main__":
    main()
