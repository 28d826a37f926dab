"""Which published answers belong to an earlier question: a table of what came before and what comes now."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from battlebot.stateless.nats.repeats import EventMark, mark_of
from games import crossword

sys.path.insert(0, str(Path(__file__).parents[1] / "games"))
from crossword_positions import a_state, played, turn_of

ADA, BEN = ("CATSXQZ", "DOGREEN")
ANSWER, REPEAT, UNSURE, DOUBTFUL = EventMark.ANSWER, EventMark.REPEAT, EventMark.UNSURE, EventMark.DOUBTFUL

PHONY_AND_CHALLENGE = ("DOUBLE", ("8G XQ", "challenge", "8G DG", "challenge"))

# the rule; the turns before; what comes, of whoever is on turn; the rack that it names; what it is then
CASES: dict[str, tuple[str, tuple[str, ...], str, str, EventMark]] = {
    "the first turn": ("DOUBLE", (), "8G CAT", "", ANSWER),
    "the first turn, not valid": ("DOUBLE", (), "8G DOG", "", ANSWER),
    "the own play again": ("DOUBLE", ("8G CAT", "pass"), "8G CAT", "", REPEAT),
    "the own play again, its row in small letters": ("DOUBLE", ("8G CAT", "pass"), "8g CAT", "", REPEAT),
    "another play that is not valid": ("DOUBLE", ("8G CAT", "pass"), "8G CATS", "", ANSWER),
    "an older play of one's own": ("DOUBLE", ("8G CAT", "pass", "pass", "pass"), "8G CAT", "", REPEAT),
    "the other one's play": ("DOUBLE", ("8G CAT",), "8G CAT", "", ANSWER),
    "the own exchange of tiles that are gone": ("DOUBLE", ("- XQZ", "pass"), "- QXZ", "", REPEAT),
    "the other one's exchange": ("DOUBLE", ("- XQZ",), "- XQZ", "", ANSWER),
    "an exchange of tiles that are not held": ("DOUBLE", ("- XQZ", "pass"), "- ZQ", "", ANSWER),
    "a challenge that succeeded": ("DOUBLE", ("8G XQ", "challenge"), "challenge", "", REPEAT),
    "a challenge that failed": ("SINGLE", ("8G CAT", "challenge"), "challenge", "", REPEAT),
    "a challenge that cost the turn": ("DOUBLE", ("8G CAT", "challenge", "pass"), "challenge", "", REPEAT),
    "a challenge of nothing": ("DOUBLE", (), "challenge", "", ANSWER),
    "a pass after a pass of one's own": ("DOUBLE", ("pass", "8G DOG"), "pass", "", DOUBTFUL),
    "a pass after the other one's": ("DOUBLE", ("pass",), "pass", "", ANSWER),
    "a pass after the other one's, from the own rack": ("DOUBLE", ("pass",), "pass", BEN, ANSWER),
    "a pass after older passes": ("DOUBLE", ("pass", "pass", "8G CAT", "9H OE"), "pass", "", UNSURE),
    "a pass from the rack before": ("DOUBLE", ("8G CAT", "pass"), "pass", ADA, REPEAT),
    "a pass from no rack that was": ("DOUBLE", ("8G CAT", "pass"), "pass", "EEEEEEE", REPEAT),
    "another answer to the question before": ("DOUBLE", ("8G CAT", "pass"), "8H TC", ADA, REPEAT),
    "a phony again, that was taken back": ("DOUBLE", ("8G XQ", "challenge", "pass"), "8G XQ", ADA, DOUBTFUL),
    "a phony again, after a challenge from the same rack": (*PHONY_AND_CHALLENGE, "8G XQ", ADA, UNSURE),
    "a challenge again, after a phony from the same rack": (*PHONY_AND_CHALLENGE, "challenge", ADA, REPEAT),
    "a play from a rack that is not held, which comes first": ("DOUBLE", (), "8G CAT", BEN, REPEAT),
    "the other one's challenge": ("SINGLE", ("8G CAT", "challenge", "pass"), "challenge", "", ANSWER),
    "a pass from the own rack, in another order": ("DOUBLE", (), "pass", "ZQXSTAC", ANSWER),
}


@pytest.mark.parametrize("name", CASES)
def test_the_event_tells_whether_it_is_an_earlier_one(name: str) -> None:
    """Each as it would be published by the bot that is on turn."""
    rule, before, now, rack, mark = CASES[name]
    state = played(a_state((ADA, BEN), rule=rule), *before)
    mover: Any = state["nextPlayer"]
    turn = turn_of(now)
    valid = crossword.validate(state, {**turn, "player": mover})
    event = {**turn, "rack": rack} if rack else turn
    assert mark_of(event, crossword.view(state, mover), state["players"].index(mover), valid) is mark
