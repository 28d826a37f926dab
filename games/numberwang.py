"""Numberwang: each turn adds its number to the board's. The first player wins at 10 or more, the second at -10 or less.

It is not much of a game; it exercises the protocol: a turn is a number, and with zeros a match can last as long as
wanted.
"""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
Turn = dict[str, Any]

GAME = {
    "name": "numberwang",
    "title": "Numberwang",
    "players": (2, 2),
    "exampleTurn": {"n": 3},
}

GOAL = 10
LARGEST = 1.7976931348623157e308  # that a double-precision float holds
EXACT = 2**53  # from here on the board's number is a float, as some databases and JSON parsers know no larger integers


def initial_state(players: list[str], seed: int, options: dict[str, Any]) -> State:
    """The board's number is 0. The seed has no effect."""
    return {"players": players, "nextPlayer": players[0], "complete": False, "board": {"n": 0}}


def validate(state: State, turn: Turn) -> bool:
    """The mover's `n` must be an int or a float from -LARGEST to LARGEST; booleans and texts are not numbers."""
    if state["complete"] or turn.get("player") != state["nextPlayer"]:
        return False
    n = turn.get("n")
    # infinity and NaN fail the comparison; ints of any size compare exactly
    return (type(n) is int or type(n) is float) and -LARGEST <= n <= LARGEST


def explain(state: State, turn: Turn) -> str:
    """Returns why the mover's turn is not valid."""
    if "n" not in turn:
        return 'A turn needs the key "n", a number.'
    if type(turn["n"]) not in (int, float):
        return '"n" must be a number.'
    return f'"n" must lie between {-LARGEST} and {LARGEST}.'


def reducer(state: State, turn: Turn) -> State:
    """Adds the number; the match is over when it reaches the goal on either side."""
    first, second = state["players"]
    n = state["board"]["n"] + turn["n"]
    if abs(n) > EXACT:
        n = float(n)
    elif n == int(n):
        # as the original, written in JavaScript, sends it: bots in typed languages read no 5.0 into an integer
        n = int(n)
    after = {**state, "board": {"n": n}, "nextPlayer": second if turn["player"] == first else first}
    if abs(n) >= GOAL:
        after["complete"] = True
        after["victor"] = first if n > 0 else second
        after["reason"] = "complete"
    return after


def render(state: State) -> str:
    """The board's number, between the two goals."""
    return f"{-GOAL} <= {state['board']['n']} <= {GOAL}"
