"""Plays one contest to its end while faults hit its town, and reports what is wrong."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from battlebot.embedded.process import Child, Program
from battlebot.storage import Storage
from chaos.answering import GAME, answering
from chaos.checker import problems, undeserved_strikes
from chaos.evidence import Evidence, gather
from chaos.faults import WEBS
from chaos.town import Town

TESTS = Path(__file__).parent.parent
# events for failures that nothing in a run should cause; a killed part logs nothing
UNEXPECTED = (
    *("pump.failed", "bus.failed", "background.failed", "node.failed"),
    *("match.not_looked_after", "match.set_aside", "match.lost"),
)
RETRY_S = 0.5
LOOK_S = 2.0  # a paused node does not answer

Trouble = Callable[[], bool]


@dataclass(frozen=True)
class Plan:
    """A contest of `bots`, each pair meeting `meetings` times; `think_s` is the longest that a good bot thinks.

    `http`: how many more bots have a URL.
    """

    name: str
    seed: int
    bots: int = 12
    meetings: int = 2
    think_s: float = 0.1
    limit_s: float = 120.0  # after the last fault: the longest time in which no meeting ends
    http: int = 0


def play(town: Town, plan: Plan, trouble: Trouble, folder: Path) -> tuple[Evidence, list[str]]:
    """Plays the contest, calling `trouble()` until it returns False or the contest ends; then judges.

    Returns the evidence and what is wrong, a sentence each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{plan.name}-{index:02}" for index in range(plan.bots)]
    asked = [f"{plan.name}-http{index:02}" for index in range(plan.http)]
    with answering(asked, plan.think_s, plan.seed, folder) as urls:
        _prepare(town, plan, names, urls, folder)
        with _bots(folder):
            while trouble() and not _finished(town, plan.name):
                pass
            town.calm()
            ended = _wait_for_the_end(town, plan)
    names += asked
    evidence = gather(
        town.settings.mongodb_uri, town.settings.mongodb_database, town.settings.redis_url, GAME, plan.name, folder
    )
    found = problems(evidence, names, plan.meetings)
    found += [f"{bot} has {count} undeserved strikes in {match}" for bot, match, count in undeserved_strikes(evidence)]
    return evidence, found if ended else [f"no meeting ended for {plan.limit_s:g} s", *found]


def log_problems(town: Town) -> list[str]:
    """Returns the unexpected events that our own processes logged, as text."""
    return [
        f"{part}: {json.dumps(event)[:500]}" for part, event in town.log_lines() if event.get("event") in UNEXPECTED
    ]


def log_tally(town: Town) -> dict[str, int]:
    """Counts the events of level warning or worse; lines that are not JSON count together."""
    counts: Counter[str] = Counter()
    for _, event in town.log_lines():
        level = event.get("level")
        if level is None:
            counts["(not JSON)"] += 1
        elif level not in ("info", "debug"):
            counts[f"{level} {str(event.get('event'))[:60]}"] += 1
    return dict(counts.most_common())


def _prepare(town: Town, plan: Plan, names: list[str], asked: dict[str, str], folder: Path) -> None:
    dice = random.Random(plan.seed)
    rows = []
    with_vice = {1: "slow", 3: "quit", 5: "blunder"}
    urls = [f"ws://127.0.0.1:{town.ports[part]}/" for part in WEBS]
    for index, name in enumerate(names):
        status, auth = town.request(f"/bots/{GAME}", {"bot_id": name})
        assert status == 201, (status, auth)
        rows.append(
            {
                **auth,
                "kind": "original" if index % 2 else "sdk",
                "keep": index % 4 == 0,
                # a third know only one node, the others connect through the balancer
                "url": town.balancer_url if index % 3 else urls[index % 2],
                "contest": plan.name,
                "seed": dice.randrange(2**32),
                "think_s": plan.think_s,
                "vice": with_vice.get(index, ""),
            }
        )
    (folder / "bots.json").write_text(json.dumps(rows))
    for name, url in asked.items():
        status, auth = town.request(f"/bots/{GAME}", {"bot_id": name, "owner": "chaos", "url": url})
        assert status == 201, (status, auth)
    entrants = [*names, *asked]
    contest = {"name": plan.name, "format": "round-robin", "entrants": entrants, "meetings": plan.meetings}
    storage = Storage(town.settings)
    token = storage.tokens.create(plan.name)
    storage.close()
    path = f"/games/{GAME}/contests"
    status, answer = town.request(path, {**contest, "absentAfterS": 600}, token)
    assert status == 201, (status, answer)
    status, answer = town.request(f"{path}/{quote(plan.name)}/start", {}, token)
    assert status == 200, (status, answer)


@contextmanager
def _bots(folder: Path) -> Iterator[None]:
    """Runs the bots in a process of their own within the `with` block."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    program = Program(
        name="bots",
        command=[sys.executable, "-m", "chaos.bots", str(folder)],
        environment={**os.environ, "PYTHONPATH": path},
        log=folder / "bots.log",
    )
    child = Child(program)
    try:
        yield
        assert child.alive, f"the bots ended{child.last_words()}"
    finally:
        child.kill()


def _finished(town: Town, name: str) -> bool:
    return _seen(town, name)[0]


def _seen(town: Town, name: str) -> tuple[bool, int]:
    """Whether the contest has finished, and how many meetings have ended; (False, 0) where no node answers."""
    path = f"/games/{GAME}/contests/{quote(name)}"
    answers = [town.request(path, part=part, limit_s=LOOK_S) for part in WEBS]
    found = [contest for status, contest in answers if status == 200]
    played = [one["progress"]["played"] for one in found]
    return any(one["state"] == "finished" for one in found), max(played, default=0)


def _wait_for_the_end(town: Town, plan: Plan) -> bool:
    most, since_s = 0, time.monotonic()
    while time.monotonic() - since_s < plan.limit_s:
        finished, played = _seen(town, plan.name)
        if finished:
            return True
        if played > most:
            most, since_s = played, time.monotonic()
        time.sleep(RETRY_S)
    return False
