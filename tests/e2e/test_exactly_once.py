"""A turn counts once, however often it is sent and wherever; who comes back is told all that it missed."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from cluster import Cluster, Web, wait_for
from peer import TEXT, Message, Peer, frame
from switchboard import Switchboard

# long enough for a bot to come back under load
SETTINGS = {"turn_timeout_ms": 10_000}


@pytest.fixture(scope="module")
def second(servers: Cluster) -> Web:
    """A second node over the same stores."""
    return servers.web(**SETTINGS)


def again(peer: Peer, meet: Switchboard, web: Web | None = None, version: int | None = None) -> Peer:
    """A new connection of the peer's bot, which asks for its seat and says up to where it has seen the match."""
    extras: dict[str, Any] = {"protocol": 2, "resume": peer.first["match"]["id"]}
    if version is not None:
        extras["version"] = version
    back = meet.login(peer.auth, web=web, login=extras)
    back.auth, back.first = peer.auth, peer.first  # type: ignore[attr-defined]
    return back


def stored(web: Web, match_id: str) -> Message:
    """The record of the match."""
    path = f"/games/numberwang/{match_id}"
    wait_for(lambda: web.request(path)[0] == 200, "the archive")
    return dict(web.request(path)[1])


def win(mover: Peer, other: Peer) -> None:
    """The mover ends the match."""
    mover.send({"n": 100})
    for peer in (mover, other):
        assert peer.final()["state"]["reason"] == "complete"


@pytest.mark.parametrize("where", ["the same node", "another node"])
def test_a_turn_sent_again_after_a_broken_connection_counts_once(
    workers: Web, second: Web, meet: Switchboard, where: str
) -> None:
    """Its acknowledgement was lost with the connection: the same again is acknowledged again, and applied once."""
    mover, other = meet.sit(nodes=(workers, workers))
    turn = {"n": 3, "version": 0, "why": "é"}
    mover.send(turn)
    assert other.update()["state"]["board"] == {"n": 3}
    mover.reset()
    back = again(mover, meet, second if where == "another node" else workers)
    assert back.update()["match"]["version"] == 1
    for _ in range(3):
        back.send(turn)
        echo = back.update()
        assert (echo["turn"]["valid"], echo["turn"]["why"]) == (True, "é")
        assert (echo["state"]["board"], echo["match"]["strikes"]) == ({"n": 3}, 0)
    win(other, back)
    record = stored(workers, mover.first["match"]["id"])
    assert [(row["player"], row["n"]) for row in record["turns"]] == [(mover.bot, 3), (other.bot, 100)]
    assert record["match"]["strikes"] == {}


def test_a_turn_that_arrives_over_two_connections_at_once_counts_once(
    workers: Web, second: Web, meet: Switchboard
) -> None:
    """The old connection's and the new one's race, at two nodes: one of them is applied, the opponent hears of one."""
    for _ in range(10):
        mover, other = meet.sit(nodes=(workers, workers))
        turn = {"n": 3, "version": 0}
        back = again(mover, meet, second)
        together = threading.Barrier(2)

        def send(peer: Peer, together: threading.Barrier = together, turn: Message = turn) -> None:
            together.wait()
            try:
                peer.send(turn)
            except OSError:
                return  # it has been taken over already

        threads = [threading.Thread(target=send, args=(peer,)) for peer in (mover, back)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert other.update()["match"]["version"] == 1
        first = back.update()
        while "turn" not in first:
            first = back.update()
        assert (first["turn"]["valid"], first["state"]["board"]) == (True, {"n": 3})
        win(other, back)
        assert [row["n"] for row in stored(workers, mover.first["match"]["id"])["turns"]] == [3, 100]


def test_a_late_turn_is_stale_at_once_whoever_is_to_move(workers: Web, meet: Switchboard) -> None:
    """Another turn for a version that has passed is neither a strike nor a turn, on turn and off turn."""
    mover, other = meet.sit()
    mover.send({"n": 1, "version": 0})
    other.update()
    mover.update()
    for peer in (mover, other):
        for late in ({"n": 7, "version": 0}, {"version": 0}, {"n": "x", "version": 0}):
            peer.send(late)
            update = peer.update()
            assert (update["code"], update["turn"]["valid"], update["match"]["strikes"]) == ("stale", False, 0)
            assert update["state"]["board"] == {"n": 1}
    win(other, mover)


def test_a_flood_of_one_turn_in_one_packet_counts_once(workers: Web, meet: Switchboard) -> None:
    """Fifty copies: one is applied, all are acknowledged."""
    mover, other = meet.sit()
    mover.raw(frame(TEXT, b'{"n": 2, "version": 0}') * 50)
    echoes = [mover.update() for _ in range(50)]
    assert all(echo["turn"]["valid"] for echo in echoes)
    assert {echo["state"]["board"]["n"] for echo in echoes} == {2}
    assert other.update()["match"]["version"] == 1
    win(other, mover)
    assert [row["n"] for row in stored(workers, mover.first["match"]["id"])["turns"]] == [2, 100]


@pytest.mark.parametrize("where", ["the same node", "another node"])
def test_who_comes_back_is_told_what_it_missed(workers: Web, second: Web, meet: Switchboard, where: str) -> None:
    """Its own turn, whose acknowledgement it has not seen, and its opponent's answer, in order, with the state."""
    mover, other = meet.sit(nodes=(workers, workers))
    mover.reset()
    back = again(mover, meet, second if where == "another node" else workers, version=0)
    update = back.update()
    assert (update["missed"], update["match"]["version"]) == ([], 0)
    back.send({"n": 1, "version": 0, "why": "first"})
    other.update()
    other.send({"n": 2, "version": 1})
    other.update()
    wait_for(lambda: back.update()["match"]["version"] == 2, "both turns")
    back.reset()
    for version in (0, 1, 2):
        late = again(mover, meet, second if where == "another node" else workers, version=version)
        update = late.update()
        assert update["state"]["board"] == {"n": 3}
        assert [(turn["player"], turn["n"], turn["valid"]) for turn in update["missed"]] == [
            (mover.bot, 1, True),
            (other.bot, 2, True),
        ][version:]
        late.reset()
    update = again(mover, meet, version=None).update()
    assert "missed" not in update


def test_an_original_client_that_comes_back_gets_the_state_and_nothing_it_does_not_know(
    workers: Web, meet: Switchboard
) -> None:
    """It asks for nothing."""
    mover, other = meet.sit()
    mover.send({"n": 1})
    other.update()
    mover.reset()
    back = meet.login(mover.auth)
    update = back.update()
    assert update["state"]["board"] == {"n": 1}
    assert "missed" not in update


@pytest.mark.parametrize("session", ["single", "keep"])
def test_who_comes_back_after_the_end_is_told_the_end(
    workers: Web, second: Web, meet: Switchboard, session: str
) -> None:
    """With the turn that ended it, if it is asked for soon; then a kept session waits for its next match."""
    mover, other = meet.sit(nodes=(workers, workers))
    other.reset()
    mover.send({"n": 100 if mover.first["state"]["players"][0] == mover.bot else -100})
    assert mover.final()["state"]["victor"] == mover.bot
    extras = {"protocol": 2, "resume": other.first["match"]["id"], "version": 0, "session": session}
    back = meet.login(other.auth, web=second, login=extras)
    update = back.update()
    assert (update["match"]["id"], update["state"]["victor"]) == (other.first["match"]["id"], mover.bot)
    assert update["match"]["fault"] == "none"
    assert "missed" not in update or [turn["player"] for turn in update["missed"]] == [mover.bot]
    if session == "single":
        assert back.closed().code == 1000
    else:
        third = meet.login(meet.auth())
        meet.seated(back, third)


@pytest.mark.parametrize("version", [-1, 1.0, "0", True, [0]])
def test_a_version_that_is_none_is_refused(workers: Web, meet: Switchboard, version: object) -> None:
    """With the field's name in the sentence."""
    reply = meet().log_in(meet.auth(), protocol=2, resume="0" * 24, version=version)
    assert (reply["authentication"], reply["code"]) == ("failed", "bad-message")
    assert "version" in reply["error"]


def test_a_version_that_is_not_yet_has_missed_nothing(workers: Web, meet: Switchboard) -> None:
    """Nobody can have seen it."""
    mover, _ = meet.sit()
    assert again(mover, meet, version=10**15).update()["missed"] == []
