"""What is done to which parts, and when: a seeded sequence. The town carries it out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

WEBS = ("web1", "web2")
WORKERS = ("worker1", "worker2")
STORES = ("valkey", "mongod")
PARTS = (*STORES, *WORKERS, *WEBS, "beat")
OUTLYING = ("bots", "tcp")  # of the long run alone: a worker that asks stateless bots, a node with the TCP door


class Kind(StrEnum):
    """What can be done to a part."""

    KILL = "kill"  # SIGKILL
    KILL_CHILD = "kill-child"  # SIGKILL for one of the processes that it forked
    PAUSE = "pause"  # SIGSTOP for the whole part, SIGCONT some seconds later
    LONG_PAUSE = "long-pause"  # the same for up to half a minute
    STOP = "stop"  # SIGTERM: a planned restart
    CUT = "cut"  # every connection through the balancer breaks
    ROLL = "roll"  # SIGTERM for one part after another, each once the previous one is back


@dataclass(frozen=True)
class Fault:
    """A fault that hits all `parts` at once, `after_s` after the previous one; `for_s` is how long a pause lasts."""

    kind: Kind
    parts: tuple[str, ...]
    for_s: float
    after_s: float


Card = tuple[Kind, tuple[Sequence[str], ...]]  # kind and, for each part to be hit, the candidates

# every deck holds these
DECK: tuple[Card, ...] = (
    (Kind.KILL, (WEBS,)),
    (Kind.KILL, (WORKERS,)),
    (Kind.KILL, (("beat",),)),
    (Kind.KILL, (("valkey",),)),
    (Kind.KILL, (("mongod",),)),
    (Kind.KILL, (PARTS, PARTS)),
    (Kind.KILL, (WEBS, WORKERS, STORES)),
    (Kind.KILL_CHILD, (WEBS,)),
    (Kind.KILL_CHILD, (WORKERS,)),
    (Kind.PAUSE, (WEBS,)),
    (Kind.PAUSE, (("valkey",),)),
    (Kind.PAUSE, (("mongod",),)),
    (Kind.PAUSE, ((*WORKERS, "beat"),)),
    (Kind.PAUSE, (PARTS, PARTS)),
    (Kind.CUT, ()),
    (Kind.STOP, (WEBS,)),
    (Kind.STOP, (PARTS,)),
    (Kind.ROLL, WEBS),
)
# and those of the long run these too
WIDE_DECK: tuple[Card, ...] = (
    *DECK,
    *((kind, ((part,),)) for part in OUTLYING for kind in (Kind.KILL, Kind.PAUSE, Kind.STOP)),
    (Kind.KILL, (OUTLYING, PARTS)),
    (Kind.LONG_PAUSE, (("bots",),)),
    (Kind.LONG_PAUSE, ((*PARTS, *OUTLYING),)),
)
BLACKOUT: Card = (Kind.KILL, tuple((part,) for part in PARTS))
LONGEST_PAUSE_S = 9.0  # beyond node_timeout_s: a paused node is sometimes taken for dead
LONG_PAUSE_S = (LONGEST_PAUSE_S, 30.0)
GAP_S = (1.0, 5.0)


def faults(seed: int, cards: Sequence[Card] = DECK) -> Iterator[Fault]:
    """Yields faults for ever: shuffled decks, so that a few minutes have every kind; every second has a blackout."""
    dice = random.Random(seed)
    deck_number = 0
    while True:
        deck = [*cards, BLACKOUT] if deck_number % 2 else [*cards]
        dice.shuffle(deck)
        for kind, places in deck:
            yield _fault(dice, kind, places)
        deck_number += 1


def _fault(dice: random.Random, kind: Kind, places: tuple[Sequence[str], ...]) -> Fault:
    if kind is Kind.ROLL:
        parts = [str(part) for part in places]
        dice.shuffle(parts)
    else:
        parts = list(dict.fromkeys(dice.choice(place) for place in places))
    # most pauses are short, some last longer than a node may be silent
    for_s = 0.2 + (LONGEST_PAUSE_S - 0.2) * dice.random() ** 2
    if kind is Kind.LONG_PAUSE:
        for_s = dice.uniform(*LONG_PAUSE_S)
    return Fault(kind, tuple(parts), round(for_s, 2), round(dice.uniform(*GAP_S), 2))
