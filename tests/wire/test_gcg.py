"""GCG text: what we write is read as it was, and as files of other programs have it, which replay to their scores."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from histories import from_gcg

from battlebot.wire.macondo.gcg import nicknames, to_gcg
from battlebot.wire.macondo.history import normal
from games.crossword.replay import replay

# moves of finished matches between people and programs, as files of other programs have them
FILES = sorted((Path(__file__).parent / "gcg").glob("*.gcg"))
RULES = {"double_challenge": "SINGLE", "exchanges": "SINGLE", "five_points": "FIVE_POINT", "words_behind": "SINGLE"}
HEAD = "#player1 one One\n#player2 two Two\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_finished_matches_load_and_replay_to_their_scores(file: Path) -> None:
    """Every play by the rules, every total as it stands in the file; and once more from our own text of it."""
    history = from_gcg(file.read_bytes())
    replayed = replay(history["events"])
    assert replayed.cumulative == [event.get("cumulative", 0) for event in history["events"]]
    assert list(replayed.scores) == history["final_scores"]
    assert (history["play_state"], history["challenge_rule"]) == ("GAME_OVER", RULES[file.stem])
    again = from_gcg(to_gcg(history))
    assert again == history


def test_there_are_files_for_every_kind_of_line() -> None:
    """Else the test above would say little."""
    kinds = {event["type"] for file in FILES for event in from_gcg(file.read_bytes())["events"]}
    assert kinds >= {"TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED", "PASS", "EXCHANGE", "CHALLENGE_BONUS"}


# a line -> the event read from it; the types with no line in the files, and the ways in which others write
LINES = {
    ">one: FWLI (FWLI) -10 426": {"type": "END_RACK_PENALTY", "rack": "FWLI", "lost_score": 10, "cumulative": 426},
    ">one: ? (?) -0 12": {"type": "END_RACK_PENALTY", "rack": "?", "cumulative": 12},
    ">one: ABC (time) -0 12": {"type": "TIME_PENALTY", "rack": "ABC", "cumulative": 12},
    ">one: ISBALI (time) -10 -4": {"type": "TIME_PENALTY", "rack": "ISBALI", "lost_score": 10, "cumulative": -4},
    ">one:  (time) -10 409": {"type": "TIME_PENALTY", "lost_score": 10, "cumulative": 409},
    ">one: (G) +4 539": {"type": "END_RACK_PTS", "rack": "G", "end_rack_points": 4, "cumulative": 539},
    ">one: ABC -3 +0 0": {"type": "EXCHANGE", "rack": "ABC", "num_tiles_from_rack": 3},
    ">one: AB?\t-?A\t+0  0": {"type": "EXCHANGE", "rack": "AB?", "exchanged": "?A", "num_tiles_from_rack": 2},
    ">one: H h8 HE(LL)o +5 5": {
        "type": "TILE_PLACEMENT_MOVE",
        "rack": "H",
        "position": "H8",
        "row": 7,
        "column": 7,
        "direction": "VERTICAL",
        "played_tiles": "HE..o",
        "score": 5,
        "cumulative": 5,
    },
}


@pytest.mark.parametrize("line", LINES)
def test_lines_are_read(line: str) -> None:
    """Zero fields are left out, as in every history."""
    assert from_gcg(HEAD + line)["events"] == [{"player_index": 0, **LINES[line]}]


@pytest.mark.parametrize("line", [line for line in LINES if "(LL)" not in line and "\t" not in line])
def test_lines_are_written_as_they_are_read(line: str) -> None:
    """But for white space."""
    assert to_gcg(from_gcg(HEAD + line)).splitlines()[-1].split() == line.split()


# as other programs have them: nothing lost has a minus, too
NOTHING_LOST = (r">(\S+):\s+(\S+)\s+--\s+-(\d+)\s+(\d+)", r">(\S+):\s+(\S+)\s+\((\S+)\)\s+-(\d+)\s+(-?\d+)")


def test_a_phony_of_no_points_is_taken_back_with_a_minus() -> None:
    """Of two blanks; and a rack of a blank that is left."""
    text = HEAD + ">one: ??QUXYZ 8G zz +0 0\n>one: ??QUXYZ -- -0 0\n>two: ? (?) +0 0\n"
    history = from_gcg(text)
    assert [event["type"] for event in history["events"][1:]] == ["PHONY_TILES_RETURNED", "END_RACK_PENALTY"]
    written = to_gcg(history)
    for line, pattern in zip(written.splitlines()[-2:], NOTHING_LOST, strict=True):
        assert re.fullmatch(pattern, line)
    assert from_gcg(written) == history


@pytest.mark.parametrize("winner", [0, 1, -1])
def test_a_match_without_an_end_of_its_own_keeps_its_result(winner: int) -> None:
    """A challenge under TRIPLE has lost it, or it was broken off: the score does not say who won."""
    events = [{"type": "PASS", "player_index": 0}, {"type": "PASS", "player_index": 1}]
    fields = {"players": [{"nickname": name, "real_name": name} for name in ("one", "two")], "version": 2}
    over = {"play_state": "GAME_OVER", "final_scores": [0, 0], "winner": winner, "challenge_rule": "TRIPLE"}
    for said in (events, []):
        history = normal({**fields, **over, "events": said})
        assert from_gcg(to_gcg(history)) == history
    assert from_gcg(to_gcg(normal({**fields, "events": events}))).get("play_state") is None


def test_notes_stay_with_their_event() -> None:
    """Several lines become one note; pragmas that are not known are left out."""
    text = HEAD + "#title A match\n#rack2 ABC\n#style x\n>one: AB 8G AB +8 8\n#note first\nsecond\n#note third\n"
    history = from_gcg(text)
    assert history["events"][0]["note"] == "first\nsecond\nthird"
    assert (history["title"], history["last_known_racks"]) == ("A match", ["", "ABC"])
    assert to_gcg(history).splitlines()[-1] == "#note first second third"


def test_names_become_nicknames() -> None:
    """The format ends a name at white space or a colon; no two are alike."""
    assert nicknames(["a b", "a:b"]) == ["a_b", "a_b_"]
    assert nicknames([" ", "日本"]) == ["_", "日本"]


def test_a_file_begins_with_what_is_known_of_the_match() -> None:
    """In the lines of the format, each in one line; what it has no line for is a note."""
    known = {
        "players": [{"nickname": "a b", "real_name": "A\nB"}, {"nickname": "a:b"}],
        "title": "Final\n#rack1 Z",
        "description": "Board 1",
        "id_auth": "battlebot",
        "uid": "65a1",
        "lexicon": "enable1",
        "challenge_rule": "DOUBLE",
        "events": [
            {
                "type": "UNSUCCESSFUL_CHALLENGE_TURN_LOSS",
                "player_index": 1,
                "rack": "ABC",
                "cumulative": 7,
                "note": "no\nword",
            }
        ],
    }
    assert to_gcg(known).splitlines() == [
        "#character-encoding UTF-8",
        "#player1 a_b A B",
        "#player2 a_b_ a_b_",
        "#title Final #rack1 Z",
        "#description Board 1",
        "#id battlebot 65a1",
        "#lexicon enable1",
        "#incomplete",
        "#note challenge rule: DOUBLE",
        ">a_b_: ABC - +0 7",
        "#note challenged in vain",
        "#note no word",
    ]


def test_what_is_not_known_has_no_line() -> None:
    """The rule is that of a history without one; who gave the id may be unknown."""
    players = [{"nickname": "one"}, {"nickname": "two"}]
    head = ["#character-encoding UTF-8", "#player1 one one", "#player2 two two"]
    rule = "#note challenge rule: VOID"
    assert to_gcg({"players": players}).splitlines() == [*head, "#incomplete", rule]
    assert to_gcg({"players": players, "uid": "m", "play_state": "GAME_OVER", "winner": -1}).splitlines() == [
        *(*head, "#id unknown m", rule, "#note result: a draw"),
    ]


@pytest.mark.parametrize(
    ("kind", "over"), [("PASS", False), ("END_RACK_PTS", True), ("END_RACK_PENALTY", True), ("TIME_PENALTY", False)]
)
def test_a_result_is_noted_where_no_event_shows_it(kind: str, over: bool) -> None:
    """The racks that are left show it."""
    players = [{"nickname": "one"}, {"nickname": "two"}]
    known = {"players": players, "events": [{"type": kind}], "play_state": "GAME_OVER", "winner": 1}
    assert ("#note result: player2 won" in to_gcg(known).splitlines()) is not over
