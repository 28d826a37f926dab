"""The meetings of a contest by pairs and by rounds."""

from __future__ import annotations

from typing import Any

from battlebot.contests.formats.situation import Due, Situation
from battlebot.contests.matrix import by_pairs, by_rounds, described


def row(n: int, first: str, second: str, state: str, victor: str | None = None, **more: Any) -> dict[str, Any]:
    """A stored meeting."""
    return {"_id": f"{first}{second}{n}", "n": n, "bots": [first, second], "state": state, "victor": victor, **more}


ROWS = [
    row(2, "b", "a", "open", round=2),
    row(1, "a", "b", "played", "a", round=1),
    row(1, "c", "a", "absent", "a", round=1),
]
SITUATION = Situation(("a", "b", "c", "d"), frozenset("d"), 3, {}, ())


def anybody(a: str, b: str) -> bool:
    """Whether the two may meet."""
    return True


def test_every_pair_is_counted() -> None:
    """Played, absent, open, due, left; who withdrew has nothing left."""
    pairs = by_pairs(SITUATION, ROWS, [Due(2, 1, "b", "c")], anybody)
    assert {
        "".join(pair["bots"]): tuple(pair[name] for name in ("played", "absent", "open", "due", "left"))
        for pair in pairs
    } == {
        "ab": (1, 0, 1, False, 1),
        "ac": (0, 1, 0, False, 2),
        "ad": (0, 0, 0, False, 0),
        "bc": (0, 0, 0, True, 3),
        "bd": (0, 0, 0, False, 0),
        "cd": (0, 0, 0, False, 0),
    }
    assert [(one["n"], one["first"], one["match"]) for one in pairs[0]["meetings"]] == [
        (1, "a", "ab1"),
        (2, "b", "ba2"),
    ]
    assert pairs[1]["meetings"][0]["match"] is None


def test_one_bots_pairs() -> None:
    """With all others, whether they have met or not."""
    assert [pair["bots"] for pair in by_pairs(SITUATION, [], [], anybody, of="c")] == [
        ["c", "a"],
        ["c", "b"],
        ["c", "d"],
    ]


def test_who_may_not_meet_has_nothing_left() -> None:
    """However little was played."""
    pairs = by_pairs(SITUATION, ROWS, [], lambda a, b: "c" in (a, b))
    assert {"".join(pair["bots"]): pair["left"] for pair in pairs} == {
        "ab": 0,
        "ac": 2,
        "ad": 0,
        "bc": 3,
        "bd": 0,
        "cd": 0,
    }


def test_rounds_hold_what_is_due_too() -> None:
    """A round is over when nothing of it is open or due; meetings without a round are in none."""
    without, over = row(1, "x", "y", "played"), row(1, "c", "d", "played", round=2)
    rounds = by_rounds([*ROWS, without, over], [Due(3, 1, "b", "c")])
    assert [(one["round"], one["over"], len(one["meetings"])) for one in rounds] == [
        (1, True, 2),
        (2, False, 2),
        (3, False, 1),
    ]
    assert described(without)["round"] == 0
    assert (rounds[2]["meetings"][0]["state"], rounds[2]["meetings"][0]["bots"]) == ("due", ["b", "c"])
