"""Turns of the crossword game: racks, bag, exchanges, challenges under each rule, and how matches end."""

from __future__ import annotations

from typing import Any

import pytest
from crossword_positions import a_state, played, refusal, told

from battlebot.rules.module import game_from_module
from games import crossword
from games.crossword.board import ALL_TILES, EMPTY, SIZE

RACKS = ("HELLOXY", "AEIRSTU")
LAST = ("HELLO", "AEIRSTU")  # with an empty bag, the first player goes out at once
PHONY = "8D LOHEL"
RULES = tuple(crossword.GAME["options"]["challengeRule"]["choices"])
MOVE, BACK = "TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED"
LOSS, BONUS = "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", "CHALLENGE_BONUS"


def test_a_play_is_laid_scored_and_replaced_from_the_bag() -> None:
    """The front of the bag comes to the rack, and the opponent is on turn."""
    state = played(a_state(RACKS), "8D HELLO")
    assert state["board"][7] == "...HELLO......."
    assert (state["scores"], state["nextPlayer"], state["racks"][0][:2], state["bagCount"]) == (
        [24, 0],
        "Ben",
        "XY",
        81,
    )
    assert len(state["racks"][0]) == 7
    assert state["events"] == [
        {
            "type": MOVE,
            "player_index": 0,
            "cumulative": 24,
            "rack": "HELLOXY",
            "position": "8D",
            "row": 7,
            "column": 3,
            "direction": "HORIZONTAL",
            "played_tiles": "HELLO",
            "score": 24,
            "words_formed": ["HELLO"],
            "num_tiles_from_rack": 5,
        }
    ]
    assert state["lastPlay"] == {
        "player": 0,
        "words": ["HELLO"],
        "cells": [[7, column] for column in range(3, 8)],
        "scorelessTurns": 0,
    }


def test_a_play_of_seven_tiles_is_told_as_such() -> None:
    """And downwards, where it is."""
    (event,) = played(a_state(("RETAINS", "AEIRSTU")), "H8 RETAINS")["events"]
    assert (event["is_bingo"], event["direction"], event["score"]) == (True, "VERTICAL", 66)


def test_an_exchange_draws_before_it_puts_back() -> None:
    """Nobody draws what it has just given away."""
    before = a_state(RACKS, bag="ABCDEFG")
    state = played(before, "- HELLOXY")
    assert sorted(state["racks"][0]) == list("ABCDEFG")
    assert ("".join(sorted(state["bag"])), state["bagCount"], state["scorelessTurns"]) == ("EHLLOXY", 7, 1)
    assert told(state["events"]) == [("EXCHANGE", "Ada", 0)]


def test_what_is_put_back_is_shuffled_into_the_bag() -> None:
    """Else it would be known who draws it; in the same way whenever the match is replayed."""
    before = a_state(RACKS)
    state = played(before, "- HELLOXY")
    assert "HELLOXY" not in state["bag"]
    assert state["bag"][:20] != before["bag"][7:27]
    assert state == played(before, "- HELLOXY")


def test_the_first_row_and_column_are_told_as_zero() -> None:
    """Though other fields are left out if they are."""
    (event,) = played(a_state(RACKS, board=[f"T{EMPTY * 14}", *[EMPTY * SIZE] * 14]), "1A .EH")["events"]
    assert (event["row"], event["column"], event["position"]) == (0, 0, "1A")


@pytest.mark.parametrize(
    ("state", "turn", "why"),
    [
        (a_state(RACKS, bag="ABCDEF"), "- X", "seven tiles in the bag"),
        (a_state(RACKS), "- XX", "does not hold"),
        (a_state(RACKS), "- XYHELLOO", "1 to 7 tiles"),
        (a_state(RACKS), "challenge", "no play that could be challenged"),
        (played(a_state(RACKS), "8D HELLO", "pass"), "challenge", "no play"),
        (played(a_state(RACKS), "8D HELLO", "- AE"), "challenge", "no play"),
        (played(a_state(RACKS), "8D HELLO", "challenge"), "challenge", "no play"),
        (played(a_state(RACKS, rule="FIVE_POINT"), "8D HELLO", "challenge"), "challenge", "no play"),
        (played(a_state(RACKS, rule="VOID"), "8D HELLO"), "challenge", "VOID"),
        (a_state(RACKS, rule="VOID"), PHONY, "No word of the list: LOHEL"),
        (played(a_state(LAST, bag=""), "8D HELLO"), "9H A", "only PASS and CHALLENGE"),
        (played(a_state(LAST, bag=""), "8D HELLO"), "- A", "only PASS and CHALLENGE"),
    ],
)
def test_turns_that_are_refused(state: dict[str, Any], turn: str, why: str) -> None:
    """Each with a sentence for the bot's author."""
    assert why in refusal(state, turn)


MALFORMED = [
    ({}, '"type" must be'),
    ({"type": ["PASS"]}, '"type" must be'),
    ({"type": "LAY", "position": "8D", "played_tiles": "HELLO"}, '"type" must be'),
    ({"type": "EXCHANGE"}, '"exchanged" must be'),
    ({"type": "EXCHANGE", "exchanged": ""}, '"exchanged" must be'),
    ({"type": "EXCHANGE", "exchanged": ["X"]}, '"exchanged" must be'),
    ({"type": MOVE, "position": 8, "played_tiles": "HELLO"}, "both texts"),
    ({"type": MOVE, "position": "8D", "played_tiles": list("HELLO")}, "both texts"),
]


@pytest.mark.parametrize(("turn", "why"), MALFORMED)
def test_turns_of_another_shape_are_refused(turn: dict[str, Any], why: str) -> None:
    """Whatever JSON has instead of a text."""
    state = a_state(RACKS)
    assert not crossword.validate(state, {**turn, "player": "Ada"})
    assert why in crossword.explain(state, {**turn, "player": "Ada"})


# rule -> the events after a play of 24 points that was challenged in vain, who is on turn, who has won
IN_VAIN = {
    "SINGLE": ([(BONUS, "Ada", 24)], "Ben", None),
    "DOUBLE": ([(LOSS, "Ben", 0)], "Ada", None),
    "FIVE_POINT": ([(BONUS, "Ada", 29)], "Ben", None),
    "TEN_POINT": ([(BONUS, "Ada", 34)], "Ben", None),
    "TRIPLE": ([(LOSS, "Ben", 0)], None, "Ada"),
}


@pytest.mark.parametrize("rule", IN_VAIN)
def test_a_challenge_in_vain(rule: str) -> None:
    """Each rule has its price; the play stays."""
    events, on_turn, victor = IN_VAIN[rule]
    state = played(a_state(RACKS, rule=rule), "8D HELLO", "challenge")
    assert told(state["events"][1:]) == events
    assert state["events"][1].get("rack") == (RACKS[1] if events[0][0] == LOSS else None)
    assert state["board"][7] == "...HELLO......."
    assert (state["lastPlay"], state.get("victor"), state["complete"]) == (None, victor, victor is not None)
    if on_turn:
        assert state["nextPlayer"] == on_turn


def test_triple_loses_the_match_whatever_the_scores_are() -> None:
    """The challenger leads by far."""
    state = {**played(a_state(RACKS, rule="TRIPLE"), "8D HELLO"), "scores": [24, 500]}
    assert played(state, "challenge")["victor"] == "Ada"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "VOID"])
def test_a_challenge_that_succeeds(rule: str) -> None:
    """The tiles are back on the rack, what was drawn is in the bag, the score is gone, the challenger is on turn."""
    before = a_state(RACKS, rule=rule)
    state = played(before, PHONY, "challenge")
    assert told(state["events"]) == [(MOVE, "Ada", 18), (BACK, "Ada", 0)]
    assert state["events"][1] == {
        "type": BACK,
        "player_index": 0,
        "cumulative": 0,
        "rack": "HELLOXY",
        "position": "8D",
        "played_tiles": "LOHEL",
        "lost_score": 18,
    }
    assert state["board"] == [EMPTY * SIZE] * SIZE
    assert state["racks"] == list(RACKS)
    assert sorted(state["bag"]) == sorted(before["bag"])
    assert (state["scores"], state["nextPlayer"], state["lastPlay"]) == ([0, 0], "Ben", None)
    assert state["scorelessTurns"] == 1


def test_a_cross_word_alone_makes_a_phony() -> None:
    """All words of a play are looked up."""
    state = played(a_state(("HELLOAT", "AEIRSTU")), "8D HELLO", "9C AS", "challenge")
    assert state["events"][-1]["type"] == BACK
    assert state["board"][8] == EMPTY * SIZE


def test_a_phony_with_a_blank_gives_the_blank_back() -> None:
    """On the rack it is no letter."""
    state = played(a_state(("?ELLOXY", "AEIRSTU")), "8D LOhEL", "challenge")
    assert sorted(state["racks"][0]) == sorted("?ELLOXY")


def test_a_match_after_a_lost_turn_goes_on() -> None:
    """DOUBLE: the challenged player moves again; its next play can be challenged."""
    state = played(a_state(RACKS), "8D HELLO", "challenge", "7H X", "challenge")
    assert [kind for kind, _, _ in told(state["events"])] == [MOVE, LOSS, MOVE, BACK]


def test_going_out_waits_for_the_final_pass() -> None:
    """The opponent could challenge; its pass ends the match: twice its tiles for the one who went out."""
    state = played(a_state(LAST, bag=""), "8D HELLO")
    assert (state["playState"], state["nextPlayer"], state["complete"]) == ("WAITING_FOR_FINAL_PASS", "Ben", False)
    assert state["scorelessTurns"] == 0
    over = played(state, "pass")
    assert told(over["events"][1:]) == [("PASS", "Ben", 0), ("END_RACK_PTS", "Ada", 38)]
    assert over["events"][-1] == {
        "type": "END_RACK_PTS",
        "player_index": 0,
        "cumulative": 38,
        "rack": "AEIRSTU",
        "end_rack_points": 14,
    }
    assert (over["scores"], over["victor"], over["playState"]) == ([38, 0], "Ada", "GAME_OVER")


def test_the_second_player_wins_by_the_higher_score() -> None:
    """Whoever has moved first or last."""
    over = played(a_state((LAST[1], LAST[0]), bag=""), "pass", "8D HELLO", "pass")
    assert (over["scores"], over["victor"], over["reason"]) == ([0, 38], "Ben", "complete")
    over = played(a_state(LAST, bag="", scores=[0, 100]), "8D HELLO", "pass")
    assert (over["scores"], over["victor"], over["lastPlay"]) == ([38, 100], "Ben", None)


def test_void_ends_without_a_final_pass() -> None:
    """There is nothing to wait for."""
    over = played(a_state(LAST, bag="", rule="VOID"), "8D HELLO")
    assert told(over["events"]) == [(MOVE, "Ada", 24), ("END_RACK_PTS", "Ada", 38)]
    assert (over["complete"], over["lastPlay"]) == (True, None)


FINAL = {
    "SINGLE": [(BONUS, "Ada", 24), ("END_RACK_PTS", "Ada", 38)],
    "DOUBLE": [(LOSS, "Ben", 0), ("END_RACK_PTS", "Ada", 38)],
    "FIVE_POINT": [(BONUS, "Ada", 29), ("END_RACK_PTS", "Ada", 43)],
    "TEN_POINT": [(BONUS, "Ada", 34), ("END_RACK_PTS", "Ada", 48)],
    "TRIPLE": [(LOSS, "Ben", 0)],
}


@pytest.mark.parametrize("rule", FINAL)
def test_a_final_challenge_in_vain_ends_the_match(rule: str) -> None:
    """With its price, and the points for the rack."""
    over = played(a_state(LAST, bag="", rule=rule), "8D HELLO", "challenge")
    assert told(over["events"][1:]) == FINAL[rule]
    assert (over["complete"], over["victor"]) == (True, "Ada")


@pytest.mark.parametrize("rule", FINAL)
def test_a_final_challenge_that_succeeds_goes_on(rule: str) -> None:
    """Who had gone out has its tiles again."""
    state = played(a_state(LAST, bag="", rule=rule), PHONY, "challenge")
    assert (state["complete"], state["playState"], state["nextPlayer"]) == (False, "PLAYING", "Ben")
    assert (state["racks"], state["bag"]) == (list(LAST), "")


def test_six_scoreless_turns_end_the_match() -> None:
    """Each loses what it holds; passes and exchanges alike, a play that scores begins the count again."""
    state = played(a_state(("HELLOXY", "AEIRSTU")), "- X", "pass", "8D HELLO", "pass", "pass", "pass", "pass", "pass")
    assert not state["complete"]
    ada, ben = state["racks"]
    over = played(state, "pass")
    lost = [crossword.board.points(rack) for rack in (ada, ben)]
    assert told(over["events"][-2:]) == [
        ("END_RACK_PENALTY", "Ada", 24 - lost[0]),
        ("END_RACK_PENALTY", "Ben", -lost[1]),
    ]
    assert [event["lost_score"] for event in over["events"][-2:]] == lost
    assert [event["rack"] for event in over["events"][-2:]] == [ada, ben]
    assert (over["complete"], over["playState"]) == (True, "GAME_OVER")


BLANKS = ("AT??EIO", "AEIRSTU")
FIVE = ["pass"] * 5
PENALTY = "END_RACK_PENALTY"
# rule, how it ends after five scoreless turns and a play of two blanks (Ben's): the turns, and the types that follow
SIXTH = [
    ("DOUBLE", "8G at", ("pass",), ["PASS", PENALTY, PENALTY]),
    ("DOUBLE", "8G at", ("challenge",), [LOSS, PENALTY, PENALTY]),
    ("FIVE_POINT", "8G at", ("challenge",), [BONUS, PENALTY, PENALTY]),
    ("TRIPLE", "8G at", ("challenge",), [LOSS]),
    ("DOUBLE", "8G zz", ("challenge",), [BACK, PENALTY, PENALTY]),
    ("VOID", "8G at", (), [PENALTY, PENALTY]),
]


@pytest.mark.parametrize(("rule", "play", "turns", "kinds"), SIXTH)
def test_a_play_of_nothing_as_the_sixth_scoreless_turn_can_be_challenged(
    rule: str, play: str, turns: tuple[str, ...], kinds: list[str]
) -> None:
    """As the play of who goes out: the opponent passes or challenges, and the match is over."""
    state = played(a_state((BLANKS[1], BLANKS[0]), rule=rule), *FIVE, play)
    if rule != "VOID":
        assert (state["playState"], state["nextPlayer"]) == ("WAITING_FOR_FINAL_PASS", "Ada")
        assert state["scorelessTurns"] == 6
        assert "only PASS and CHALLENGE" in refusal(state, "- A")
    over = played(state, *turns)
    assert [kind for kind, _, _ in told(over["events"][6:])] == kinds
    assert (over["complete"], over["playState"]) == (True, "GAME_OVER")


def test_a_play_of_nothing_as_the_fifth_scoreless_turn_goes_on() -> None:
    """As any other."""
    state = played(a_state(BLANKS), *["pass"] * 4, "8G at")
    assert (state["scorelessTurns"], state["playState"], state["nextPlayer"]) == (5, "PLAYING", "Ben")


def test_a_play_that_scores_after_five_scoreless_turns_goes_on() -> None:
    """The count begins again."""
    state = played(a_state(RACKS[::-1]), *FIVE, "8D HELLO")
    assert (state["scorelessTurns"], state["playState"], state["nextPlayer"]) == (0, "PLAYING", "Ada")


@pytest.mark.parametrize(
    ("play", "last", "kinds"),
    [
        ("8G at", "pass", ["PASS", "END_RACK_PTS"]),
        ("8G at", "challenge", [LOSS, "END_RACK_PTS"]),
        ("8G zz", "challenge", [BACK, PENALTY, PENALTY]),
    ],
)
def test_going_out_for_nothing_after_five_scoreless_turns_is_going_out(play: str, last: str, kinds: list[str]) -> None:
    """Unless it was a phony: then it was the sixth."""
    state = played(a_state(("AEIRSTU", "??"), bag=""), *FIVE, play)
    assert (state["playState"], state["nextPlayer"]) == ("WAITING_FOR_FINAL_PASS", "Ada")
    over = played(state, last)
    assert [kind for kind, _, _ in told(over["events"][6:])] == kinds
    assert over["complete"]


def test_a_phony_taken_back_and_a_play_of_nothing_are_scoreless() -> None:
    """So are turns lost by a challenge."""
    state = played(a_state(("AT??EIO", "AEIRSTU")), "8G at")
    assert state["scorelessTurns"] == 1
    state = played(a_state(RACKS), "pass", "pass", "8D LOHEL", "challenge")
    assert state["scorelessTurns"] == 3
    state = played(a_state(RACKS), "pass", "pass", "8D HELLO", "challenge")
    assert state["scorelessTurns"] == 1


def test_what_is_not_given_is_as_the_page_has_it() -> None:
    """With the time for a turn; the page has six rules for challenges."""
    game = game_from_module(crossword)
    defaults = {"challengeRule": "DOUBLE", "lexicon": "enable1"}
    assert (game.options_with_defaults({}), game.turn_timeout_ms) == (defaults, 10_000)
    assert set(RULES) == {"VOID", *IN_VAIN}


def test_equal_scores_are_a_draw() -> None:
    """Six passes with racks of the same worth."""
    over = played(a_state(("AEIRSTU", "AEINSTU")), *["pass"] * 6)
    assert (over["victor"], over["scores"]) == (None, [-7, -7])


def test_everybody_sees_its_own_rack_only() -> None:
    """Viewers none, nobody the bag; all of it at the end, and then all events whole."""
    state = played(a_state(RACKS), "8D HELLO", "- AE")
    for player, own in (("Ada", 0), ("Ben", 1), (None, None)):
        seen = crossword.view(state, player)
        assert not {"bag", "seed"} & seen.keys()
        assert seen["racks"] == [rack if number == own else "" for number, rack in enumerate(state["racks"])]
        assert seen["rackCounts"] == [7, 7]
        for event in seen["events"]:
            assert ("rack" in event) == (event["player_index"] == own)
        assert ("exchanged" in seen["events"][1]) == (own == 1)
        assert seen["events"][1]["num_tiles_from_rack"] == 2
    over = played(state, *["pass"] * 5)
    assert crossword.view(over, None) == {**over, "rackCounts": [7, 7]}


def test_the_bag_comes_from_the_seed() -> None:
    """Equal seeds, equal bags; the hundred tiles, in another order for another seed."""
    options = {"challengeRule": "DOUBLE", "lexicon": "enable1"}
    states = [crossword.initial_state(["a", "b"], seed, options) for seed in (1, 1, 2)]
    assert states[0] == states[1]
    assert states[0]["bag"] != states[2]["bag"]
    for state in states:
        assert sorted("".join(state["racks"]) + state["bag"]) == sorted(ALL_TILES)


def test_the_text_of_a_board_has_scores_and_bag() -> None:
    """For logs and terminals."""
    lines = crossword.render(played(a_state(RACKS), "8D HELLO")).splitlines()
    assert lines[8] == " 8 . . . H E L L O . . . . . . ."
    assert lines[-1] == "Ada 24, Ben 0; 81 in the bag"


def test_a_page_shows_racks_the_score_sheet_and_all_events_in_words() -> None:
    """A line of the sheet for a turn of each; what follows from a challenge has its own if it must."""
    state = played(a_state(RACKS), "8D HELLO", "- AE", "7H X", "challenge", "pass")
    racks, sheet, events = crossword.show(state)["tables"]
    assert (racks["title"], racks["head"], racks["numbers"]) == (
        "Racks; 81 tiles in the bag",
        ["Bot", "Score", "Rack", "Tiles"],
        [1, 3],
    )
    assert racks["rows"] == [["Ada", "24", state["racks"][0], "7"], ["Ben", "0", state["racks"][1], "7"]]
    assert (sheet["title"], sheet["head"], sheet["numbers"]) == (
        "Score sheet",
        ["#", "Ada", "Points", "Total", "Ben", "Points", "Total"],
        [0, 2, 3, 5, 6],
    )
    assert sheet["rows"] == [
        ["1", "8D HELLO", "+24", "24", "exchange", "+0", "0"],
        ["2", "7H X", "+9", "33", "", "", ""],
        ["3", "taken back", "-9", "24", "pass", "+0", "0"],
    ]
    assert events["title"] == "Events; challenges under the rule DOUBLE, words of enable1"
    assert (events["head"], events["numbers"]) == (["#", "Bot", "What", "Words", "Points", "Total"], [0, 4, 5])
    assert events["rows"] == [
        ["1", "Ada", "laid HELLO at 8D", "HELLO", "+24", "24"],
        ["2", "Ben", "exchanged AE", "", "+0", "0"],
        ["3", "Ada", "laid X at 7H", "XO", "+9", "33"],
        ["4", "Ada", "was challenged, and took X back", "", "-9", "24"],
        ["5", "Ben", "passed", "", "+0", "0"],
    ]


def test_a_page_has_whose_turn_comes_first_on_the_left() -> None:
    """What the first player does after the second begins a line."""
    shown = crossword.show(played(a_state(RACKS[::-1]), "pass", PHONY, "challenge", "pass"))
    assert ("".join(shown["columns"]), shown["rows"]) == ("ABCDEFGHIJKLMNO", [str(row) for row in range(1, 16)])
    assert [[(square["kind"], square["text"]) for square in row[:6]] for row in shown["board"][:2]] == [
        [("word3", "3W"), *[("empty", "")] * 2, ("letter2", "2L"), *[("empty", "")] * 2],
        [("empty", ""), ("word2", "2W"), *[("empty", "")] * 3, ("letter3", "3L")],
    ]
    assert [(row[1], row[4]) for row in shown["tables"][1]["rows"]] == [
        ("pass", "8D LOHEL"),
        ("", "taken back"),
        ("pass", ""),
    ]


def test_a_page_for_viewers_shows_no_hidden_tiles() -> None:
    """Their number; a rack that is empty is no secret."""
    state = played(a_state(("HELLO", "AEIRSTU"), bag="BCDFGHJ"), "- H", "pass", "pass")
    racks, _, events = crossword.show(crossword.view({**state, "racks": ["", "AEIRSTU"]}, None))["tables"]
    assert [row[2:] for row in racks["rows"]] == [["", "0"], ["hidden", "7"]]
    assert events["rows"][0][2] == "exchanged 1 tiles"


# rule -> what the sheet and the events say of a challenge in vain at the end, and of the end
ENDS_SHOWN = {
    "FIVE_POINT": (["challenged in vain", "opponent's rack"], ["was challenged in vain"]),
    "DOUBLE": (["lost challenge", "opponent's rack"], ["challenged in vain, and lost by it"]),
}


@pytest.mark.parametrize("rule", ENDS_SHOWN)
def test_a_page_shows_how_it_ended(rule: str) -> None:
    """Blanks in capitals, of another kind."""
    shown = crossword.show(played(a_state(("HELLO", "AEIRSTU"), bag="", rule=rule), "8D HELLO", "challenge"))
    _, sheet, events = shown["tables"]
    short, said = ENDS_SHOWN[rule]
    assert [text for row in sheet["rows"] for text in (row[1], row[4]) if text] == ["8D HELLO", *short]
    assert [row[2] for row in events["rows"][1:]] == [*said, "gets twice the opponent's AEIRSTU"]
    assert events["rows"][-1][4] == "+14"
    shown = crossword.show(played(a_state(("?ELLO", "AEIRSTU")), "8D hELLO", *["pass"] * 6))
    assert shown["board"][7][3:5] == [{"text": "H", "kind": "blank"}, {"text": "E", "kind": "tile"}]
    assert [row[2].split()[:3] for row in shown["tables"][2]["rows"][-2:]] == [["is", "left", "with"]] * 2
