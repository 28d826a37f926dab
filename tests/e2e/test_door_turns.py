"""A match from its first update on: what both bots are told of a turn, and what only its sender is told."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from peer import TEXT, Message, Peer, frame
from switchboard import Seats, Switchboard


def played(mover: Peer, other: Peer, turn: Message) -> tuple[Message, Message]:
    """A turn, and the update that each of the two gets then: the mover's first."""
    mover.send(turn)
    return mover.update(), other.update()


def test_a_match_begins_with_the_state_to_both_and_nothing_that_tells_of_an_end(sit: Callable[..., Seats]) -> None:
    """No `turn`; `victor` and `reason` are absent until `complete`."""
    mover, other = sit("noughtsandcrosses")
    bots = mover.first["state"]["players"]
    assert sorted(bots) == sorted([mover.bot, other.bot])
    for peer in (mover, other):
        assert peer.first["state"] == {
            "players": bots,
            "nextPlayer": mover.bot,
            "complete": False,
            "board": [["", "", ""]] * 3,
            "marks": {"X": bots[0], "O": bots[1]},
        }
        assert set(peer.first) == {"state", "match"}


def test_every_update_tells_the_match_the_version_and_the_clock(sit: Callable[..., Seats]) -> None:
    """Our extra keys: they are the same match's for both, and the version counts the valid turns."""
    mover, other = sit()
    about = mover.first["match"]
    assert about["id"] == other.first["match"]["id"]
    assert (about["version"], about["turnTimeoutMs"], about["strikes"]) == (0, 3000, 0)
    assert 0 < about["remainingMs"] <= 3000
    assert [update["match"]["version"] for update in played(mover, other, {"n": 1})] == [1, 1]


def test_a_valid_turn_goes_to_both_with_player_time_and_valid(sit: Callable[..., Seats]) -> None:
    """`time` is an integer, in ms since the epoch."""
    mover, other = sit()
    before_ms = int(time.time() * 1000)
    own, others = played(mover, other, {"n": 2.5})
    after_ms = int(time.time() * 1000)
    assert (own["turn"], own["state"]) == (others["turn"], others["state"])
    moment = own["turn"].pop("time")
    assert type(moment) is int
    assert before_ms <= moment <= after_ms
    assert own["turn"] == {"n": 2.5, "player": mover.bot, "valid": True}
    assert own["state"]["board"] == {"n": 2.5}
    assert own["state"]["nextPlayer"] == other.bot


def test_keys_that_the_game_does_not_know_come_back_in_the_echo(sit: Callable[..., Seats]) -> None:
    """Also where they are nested; and the game's state does not hold them."""
    mover, other = sit()
    extra = {"comment": "héllo", "eval": [1, {"depth": None}], "": 0}
    for update in played(mover, other, {"n": 1, **extra}):
        assert {key: update["turn"][key] for key in extra} == extra
        assert "comment" not in update["state"]


@pytest.mark.parametrize("forged", [{"player": "somebody else"}, {"time": 0}, {"valid": False}, {"valid": True}])
def test_a_bot_cannot_forge_what_is_the_servers(sit: Callable[..., Seats], forged: Message) -> None:
    """The server's player, time and valid win, whether the turn is valid or not."""
    mover, other = sit()
    for turn, valid in (({"n": "x"}, False), ({"n": 1}, True)):
        mover.send({**turn, **forged})
        echo = mover.update()["turn"]
        assert (echo["player"], echo["valid"]) == (mover.bot, valid)
        assert abs(echo["time"] - time.time() * 1000) < 60_000
    assert other.update()["turn"]["player"] == mover.bot


def test_a_bot_cannot_play_for_its_opponent(sit: Callable[..., Seats]) -> None:
    """A turn out of turn stays one, whoever it says it is from."""
    mover, other = sit()
    other.send({"n": 1, "player": mover.bot})
    update = other.update()
    assert (update["turn"]["player"], update["turn"]["valid"]) == (other.bot, False)
    assert update["state"]["board"] == {"n": 0}


def test_an_invalid_turn_is_told_to_its_sender_only_with_the_state_unchanged(sit: Callable[..., Seats]) -> None:
    """The opponent's next message is that of the valid turn after it."""
    mover, other = sit("noughtsandcrosses")
    mark = "X" if mover.first["state"]["players"][0] == mover.bot else "O"
    mover.send({"mark": mark, "space": [3, 0], "why": "off the board"})
    update = mover.update()
    assert update["state"] == mover.first["state"]
    assert update["turn"]["valid"] is False
    assert update["turn"]["space"] == [3, 0]
    assert update["match"]["strikes"] == 1
    assert update["error"].endswith(".")
    own, others = played(mover, other, {"mark": mark, "space": [2, 0]})
    assert own["state"] == others["state"]
    assert others["turn"]["space"] == [2, 0]
    assert others["match"]["strikes"] == 0


def test_the_same_turn_sent_twice_is_acknowledged_twice_and_applied_once(sit: Callable[..., Seats]) -> None:
    """With the version that it answers; the opponent hears of it once, and nobody gets a strike."""
    mover, other = sit()
    turn = {"n": 3, "version": 0}
    mover.send(turn)
    mover.send(turn)
    first, second = mover.update(), mover.update()
    assert first["turn"]["valid"] is second["turn"]["valid"] is True
    assert first["state"] == second["state"]
    assert second["state"]["board"] == {"n": 3}
    assert second["match"]["strikes"] == 0
    other.update()
    assert played(other, mover, {"n": 0})[0]["state"]["board"] == {"n": 3}


def test_a_turn_for_a_version_that_has_passed_is_stale_and_no_strike(sit: Callable[..., Seats]) -> None:
    """It is told so, with a code; ten of them do not lose a match."""
    mover, other = sit()
    played(mover, other, {"n": 1, "version": 0})
    for _ in range(10):
        other.send({"n": 1, "version": 0})
        update = other.update()
        assert (update["turn"]["valid"], update["code"], update["match"]["strikes"]) == (False, "stale", 0)
    assert played(other, mover, {"n": 1, "version": 1})[1]["state"]["board"] == {"n": 2}


def test_a_turn_for_a_version_to_come_is_a_strike(sit: Callable[..., Seats]) -> None:
    """Nobody can have seen it."""
    mover, _ = sit()
    mover.send({"n": 1, "version": 7})
    update = mover.update()
    assert (update["turn"]["valid"], update["code"], update["match"]["strikes"]) == (False, "bad-version", 1)


def test_turns_in_one_packet_are_answered_one_by_one_in_their_order(sit: Callable[..., Seats]) -> None:
    """The first is valid; the second is out of turn by then."""
    mover, other = sit()
    mover.raw(frame(TEXT, b'{"n": 1}') + frame(TEXT, b'{"n": 2}'))
    assert [mover.update()["turn"]["valid"] for _ in range(2)] == [True, False]
    assert other.update()["state"]["board"] == {"n": 1}


def test_who_is_first_is_drawn_by_lot_outside_contests(meet: Switchboard) -> None:
    """Of 24 matches in which the same bot began to wait first, it is players[0] in some and not in others."""
    one, two = meet.auth(), meet.auth()
    firsts = set()
    for _ in range(24):
        a = meet.login(one)
        b = meet.login(two)
        mover, _ = meet.seated(a, b)
        firsts.add(mover.first["state"]["players"][0])
        mover.send({"n": 10})
        for peer in (a, b):
            peer.final()
            peer.close()
    assert firsts == {one["bot_id"], two["bot_id"]}
