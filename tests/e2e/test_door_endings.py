"""How a match ends, and what both bots are told then, message by message: strikes, time, leaving, the game itself."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from cluster import Web, wait_for
from peer import BINARY, CLOSE, TEXT, Message, Peer, frame
from switchboard import Seats, Switchboard

LIMIT_MS = 2500
SETTINGS = {"turn_timeout_ms": LIMIT_MS}

INVALID = {
    "a bad move": json.dumps({"n": "ten"}),
    "nothing in it": "{}",
    "a list": "[1]",
    "a number": "1",
    "null": "null",
    "garbage": "n=1",
    "an empty frame": "",
    "NaN": '{"n": NaN}',
    "infinity": '{"n": Infinity}',
    "an integer of 1,300 bits in a key of its own": f'{{"n": 1, "x": [{"1" * 400}]}}',
    "nested too deep": '{"n": 1, "x": ' + "[" * 100 + "]" * 100 + "}",
    "a boolean": '{"n": true}',
    "a lone surrogate": '{"n": 1, "x": "\\ud800"}',
}


def nothing_but_the_end(peer: Peer) -> Message:
    """The next message must be the final update, without a turn; after it comes the close, 1000, and the end."""
    update = peer.update()
    assert update["state"]["complete"] is True
    assert "turn" not in update
    closed_normally(peer)
    return update


def closed_normally(peer: Peer) -> None:
    """The very next thing is a close frame, 1000, and once it is answered the end of the connection."""
    seen = []
    closed = None
    while closed is None:
        try:
            seen.append(peer.any_frame())
        except Exception as error:
            closed = error
    assert seen == []
    assert closed.code == 1000
    assert peer.nothing_more()


def three_strikes(sender: Peer, opponent: Peer, send: Callable[[], None]) -> None:
    """Each is told to its sender, the third too; only then comes the end, to both, and nothing else to the opponent."""
    board = sender.first["state"]
    for count in (1, 2, 3):
        send()
        update = sender.update()
        assert update["turn"]["valid"] is False
        assert update["turn"]["player"] == sender.bot
        assert type(update["turn"]["time"]) is int
        assert update["state"] == board
        assert update["match"]["strikes"] == count
    for peer in (sender, opponent):
        state = nothing_but_the_end(peer)["state"]
        assert state == {**board, "complete": True, "victor": opponent.bot, "reason": "invalid"}


@pytest.mark.parametrize("kind", INVALID)
def test_the_third_invalid_turn_loses(sit: Callable[..., Seats], kind: str) -> None:
    """Also what is no JSON object: garbage is a strike, never an error and never a draw."""
    mover, other = sit()
    three_strikes(mover, other, lambda: mover.frame(TEXT, INVALID[kind].encode()))


def test_the_third_binary_frame_loses(sit: Callable[..., Seats]) -> None:
    """However good the JSON in it is."""
    mover, other = sit()
    three_strikes(mover, other, lambda: mover.frame(BINARY, b'{"n": 1}'))


def test_the_third_turn_out_of_turn_loses(sit: Callable[..., Seats]) -> None:
    """However good it would have been."""
    mover, other = sit()
    three_strikes(other, mover, lambda: other.send({"n": 1}))


def test_strikes_count_over_the_whole_match(sit: Callable[..., Seats]) -> None:
    """Valid turns between them forgive nothing."""
    mover, other = sit()
    for count in (1, 2):
        mover.send({"n": "bad"})
        assert mover.update()["match"]["strikes"] == count
        mover.send({"n": 0})
        assert (mover.update()["turn"]["valid"], other.update()["turn"]["valid"]) == (True, True)
        other.send({"n": 0})
        assert (other.update()["turn"]["valid"], mover.update()["turn"]["valid"]) == (True, True)
    mover.send({"n": "bad"})
    assert mover.update()["state"]["complete"] is False
    assert nothing_but_the_end(mover)["state"]["victor"] == other.bot
    assert nothing_but_the_end(other)["state"]["victor"] == other.bot


def test_a_match_that_is_played_to_its_end_is_told_with_the_last_turn(sit: Callable[..., Seats]) -> None:
    """The final update carries the turn that ended it; then both are closed with 1000."""
    mover, other = sit()
    mover.send({"n": -10})
    for peer in (mover, other):
        update = peer.update()
        assert update["turn"]["valid"] is True
        assert (update["state"]["victor"], update["state"]["reason"]) == (other.bot, "complete")
        closed_normally(peer)


def test_a_draw_has_a_victor_of_null(sit: Callable[..., Seats]) -> None:
    """The key is always there: original clients index it."""
    mover, other = sit("noughtsandcrosses")
    spaces = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 0], [1, 2], [2, 1], [2, 0], [2, 2]]
    for index, space in enumerate(spaces):
        peer = (mover, other)[index % 2]
        peer.send({"mark": "XO"[index % 2], "space": space})
        updates = mover.update(), other.update()
    for update in updates:
        assert update["turn"]["space"] == [2, 2]
        assert "victor" in update["state"]
        assert update["state"]["victor"] is None
        assert update["state"]["reason"] == "complete"


def test_who_does_not_answer_in_time_loses(sit: Callable[..., Seats]) -> None:
    """Both are told so; the sockets are closed normally."""
    mover, other = sit()
    for peer in (mover, other):
        state = nothing_but_the_end(peer)["state"]
        assert (state["victor"], state["reason"]) == (other.bot, "timeout")


def test_an_invalid_turn_does_not_restart_the_clock(sit: Callable[..., Seats]) -> None:
    """Two of them, late in the time: what is left is told to shrink, and the end comes by time."""
    mover, other = sit()
    limit_s = LIMIT_MS / 1000
    left = []
    for at_s in (1.0, 2.0):
        wait_until_left(mover, limit_s - at_s)
        mover.send({"n": None})
        update = mover.update()
        assert update["turn"]["valid"] is False
        left.append(update["match"]["remainingMs"])
    # what the server itself was late is not charged, and so more may be left than by our clock
    assert 1000 * limit_s > left[0] > left[1]
    assert nothing_but_the_end(mover)["state"]["reason"] == "timeout"
    assert nothing_but_the_end(other)["state"]["victor"] == other.bot


def wait_until_left(peer: Peer, left_s: float) -> None:
    """Lets the clock of the peer's first update run down; whatever comes meanwhile fails the test."""
    peer.clock_s = getattr(peer, "clock_s", LIMIT_MS / 1000)  # type: ignore[attr-defined]
    with pytest.raises(TimeoutError):
        peer.any_frame(peer.clock_s - left_s)
    peer.clock_s = left_s  # type: ignore[attr-defined]


LEAVING: dict[str, Callable[[Peer], None]] = {
    "a close frame": lambda peer: peer.close(),
    "going away": lambda peer: peer.close(1001),
    "a reset": lambda peer: peer.reset(),
    "an end without a close frame": lambda peer: peer.sock.close(),
}


@pytest.mark.parametrize("on_turn", [True, False], ids=["on turn", "off turn"])
@pytest.mark.parametrize("kind", LEAVING)
def test_who_leaves_loses(sit: Callable[..., Seats], kind: str, on_turn: bool) -> None:
    """Once the time to come back is over. Who is left is told no turn, only the end."""
    mover, other = sit()
    leaver, stayer = (mover, other) if on_turn else (other, mover)
    if not on_turn:
        # else the one who stays loses by time before the other has lost by absence
        mover.send({"n": 1})
        assert mover.update()["state"] == other.update()["state"]
        leaver, stayer = mover, other
    LEAVING[kind](leaver)
    if not on_turn:
        stayer.send({"n": 1})
        assert stayer.update()["turn"]["valid"] is True
    state = nothing_but_the_end(stayer)["state"]
    assert (state["victor"], state["reason"]) == (stayer.bot, "disconnect")


@pytest.mark.parametrize("kind", LEAVING)
def test_who_comes_back_in_time_gets_its_seat_with_the_current_state_and_can_win(meet: Switchboard, kind: str) -> None:
    """With the plain login of an original client, which does not know that it takes its seat back."""
    mover, other = meet.sit()
    mover.send({"n": 4})
    assert mover.update()["state"] == other.update()["state"]
    LEAVING[kind](mover)
    back = meet.login(mover.auth)
    update = back.update()
    assert update["state"]["board"] == {"n": 4}
    assert update["match"]["id"] == mover.first["match"]["id"]
    assert "turn" not in update
    other.send({"n": 4})
    assert back.update()["state"]["board"] == other.update()["state"]["board"] == {"n": 8}
    back.send({"n": 4})
    victor = other.first["state"]["players"][0]
    for peer in (back, other):
        assert peer.update()["state"]["victor"] == victor
        closed_normally(peer)


def test_who_comes_back_on_turn_has_the_time_that_was_left(meet: Switchboard) -> None:
    """Its clock went on: leaving is worth nothing."""
    mover, other = meet.sit()
    wait_until_left(mover, 1.9)
    mover.reset()
    back = meet.login(mover.auth)
    assert back.update()["match"]["remainingMs"] < LIMIT_MS
    assert nothing_but_the_end(back)["state"]["reason"] == "timeout"
    assert nothing_but_the_end(other)["state"]["victor"] == other.bot


def test_strikes_stay_over_a_reconnection(meet: Switchboard) -> None:
    """Else three bad turns could be thirty."""
    mover, other = meet.sit()
    mover.send({})
    mover.send({})
    assert [mover.update()["match"]["strikes"] for _ in range(2)] == [1, 2]
    mover.reset()
    back = meet.login(mover.auth)
    assert back.update()["match"]["strikes"] == 2
    back.send({})
    assert back.update()["match"]["strikes"] == 3
    assert nothing_but_the_end(back)["state"]["victor"] == other.bot
    assert nothing_but_the_end(other)["state"]["reason"] == "invalid"


def test_the_last_update_reaches_a_bot_whose_turn_ended_the_match_with_its_goodbye_at_once(meet: Switchboard) -> None:
    """A turn and a close frame in one packet: the turn counts, both hear of it, nobody is left waiting."""
    mover, other = meet.sit()
    mover.raw(frame(TEXT, b'{"n": 10}') + frame(CLOSE, b"\x03\xe8"))
    update = other.update()
    assert (update["turn"]["n"], update["state"]["reason"]) == (10, "complete")
    closed_normally(other)
    assert mover.update()["state"]["victor"] == mover.bot
    assert mover.closed().code == 1000


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize(("n", "board"), [(2**63 - 1, 2.0**63), (-(10**21), -1e21), (1e300, 1e300)])
def test_a_number_of_any_size_is_a_turn_and_is_stored(
    sit: Callable[..., Seats], web: Web, n: float, board: float
) -> None:
    """Also beyond the 64 bits of the database's integers: those are floats, as in the original."""
    mover, other = sit("numberwang")
    mover.send({"n": n})
    state = mover.update()["state"]
    assert other.update()["state"] == state
    victor = state["players"][n < 0]
    assert (state["board"], state["victor"], state["reason"]) == ({"n": board}, victor, "complete")
    path = f"/games/numberwang/{mover.first['match']['id']}"
    wait_for(lambda: web.request(path)[0] == 200, "the stored match")
    assert web.request(path)[1]["victor"] == victor
