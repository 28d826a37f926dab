"""Two web nodes over the same stores: bots of both meet, change sides, and outlive a node that is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from cluster import Cluster, Web, wait_for
from peer import Closed, Peer, login_for
from standstill import standing_still
from switchboard import Seats, Switchboard

# a turn may take longer than a node takes to stand still, and its bot to come back, on a busy machine
SETTINGS = {"node_timeout_s": 2.0, "node_grace_s": 4.0, "sweep_interval_s": 0.3, "turn_timeout_ms": 8000}


@pytest.fixture(scope="module")
def web(servers: Cluster) -> Web:
    """The node that lives through all tests, with a worker and beat beside it."""
    lasting = servers.web(**SETTINGS)
    servers.worker(**SETTINGS)
    servers.beat(**SETTINGS)
    lasting.wait_until_ready()
    return lasting


@pytest.fixture(scope="module")
def second(servers: Cluster) -> Web:
    """A second node, which lives too."""
    return servers.web(**SETTINGS)


@pytest.fixture
def mortal(servers: Cluster) -> Iterator[Web]:
    """A node of one test's own, to be killed."""
    node = servers.web(**SETTINGS)
    yield node
    node.child.kill()


@pytest.fixture(scope="module")
def sleeper(servers: Cluster) -> Web:
    """A node that is made to stand still, and runs again."""
    return servers.web(**SETTINGS)


def both(one: Peer, two: Peer) -> dict[str, object]:
    """The next update of both, which must be the same."""
    first, second = one.update(), two.update()
    assert (first["state"], first.get("turn")) == (second["state"], second.get("turn"))
    return first


def test_bots_on_different_nodes_play_each_other(web: Web, second: Web, meet: Switchboard) -> None:
    """Twenty matches, with the one that waited first on either node; each is played through by turns."""
    for index in range(20):
        nodes = (web, second) if index % 2 else (second, web)
        mover, other = meet.sit(nodes=nodes)
        for _ in range(4):
            mover.send({"n": 0.5})
            both(mover, other)
            mover, other = other, mover
        mover.send({"n": -20})
        state = both(mover, other)["state"]
        assert state["complete"] is True
        assert state["victor"] == state["players"][1]
        for peer in (mover, other):
            assert peer.closed().code == 1000
            peer.close()


def test_strikes_and_time_are_kept_across_nodes(web: Web, second: Web, meet: Switchboard) -> None:
    """An invalid turn is told to its sender only; a time-out to both."""
    mover, other = meet.sit(nodes=(web, second))
    mover.send({})
    assert mover.update()["match"]["strikes"] == 1
    mover.send({"n": 1})
    both(mover, other)
    for peer in (mover, other):
        state = peer.update()["state"]
        assert (state["victor"], state["reason"]) == (mover.bot, "timeout")
        assert peer.closed().code == 1000


@pytest.mark.parametrize("on_turn", [True, False], ids=["on turn", "off turn"])
def test_a_bot_that_comes_back_to_the_other_node_gets_its_seat(
    web: Web, second: Web, meet: Switchboard, on_turn: bool
) -> None:
    """With the current state; then it plays on from there."""
    mover, other = meet.sit(nodes=(web, web))
    mover.send({"n": 3})
    both(mover, other)
    mover, other = other, mover
    leaver = mover if on_turn else other
    leaver.reset()
    back = meet.login(leaver.auth, web=second)
    update = back.update()
    assert update["state"]["board"] == {"n": 3}
    mover, other = (back, other) if on_turn else (mover, back)
    mover.send({"n": 1})
    assert both(mover, other)["state"]["board"] == {"n": 4}
    other.send({"n": 6})
    assert both(mover, other)["state"]["complete"] is True


def test_a_seat_is_taken_over_from_a_connection_to_the_other_node(web: Web, second: Web, meet: Switchboard) -> None:
    """The old connection is closed as taken over, on its own node."""
    mover, other = meet.sit(nodes=(web, second))
    late = meet.login(mover.auth, web=second, login={"protocol": 2, "resume": mover.first["match"]["id"]})
    assert late.update()["state"] == mover.first["state"]
    closed = mover.closed()
    assert (closed.code, closed.slug) == (1008, "taken-over")
    late.send({"n": 10})
    assert both(late, other)["state"]["complete"] is True


def dead(peer: Peer) -> None:
    """The node is gone: its connections end without a close frame."""
    closed = peer.closed()
    assert closed.code is None


def test_when_a_node_is_killed_its_bot_comes_back_to_the_other_and_plays_on(
    web: Web, mortal: Web, meet: Switchboard
) -> None:
    """The bot of the dead node is on turn: its clock stands still until it is back. Nobody loses by it."""
    mover, other = sit_with_the_mover_at(mortal, web, meet)
    mortal.child.kill()
    dead(mover)
    back = come_back(mover, web, meet)
    back.send({"n": 10})
    state = both(back, other)["state"]
    assert (state["victor"], state["reason"]) == (state["players"][0], "complete")


def test_when_a_node_is_killed_the_other_bot_goes_on_meanwhile(web: Web, mortal: Web, meet: Switchboard) -> None:
    """The bot of the living node is on turn: it plays, is told so, and waits for the other to come back."""
    mover, other = sit_with_the_mover_at(web, mortal, meet)
    mortal.child.kill()
    dead(other)
    mover.send({"n": 4})
    assert mover.update()["turn"]["valid"] is True
    back = come_back(other, web, meet)
    back.send({"n": 6})
    state = both(back, mover)["state"]
    assert (state["complete"], state["reason"]) == (True, "complete")


def test_when_a_node_is_killed_its_bot_learns_the_end_that_comes_before_its_seat_is_empty(
    web: Web, mortal: Web, meet: Switchboard
) -> None:
    """It is back by a login alone, as original clients are, when the other bot ends the match."""
    mover, other = sit_with_the_mover_at(web, mortal, meet)
    mortal.child.kill()
    dead(other)
    back = meet.login(other.auth, web=web)
    for _ in range(2):
        # meanwhile the login has been followed by a look for a match
        mover.send({"n": "no number"})
        assert mover.update()["turn"]["valid"] is False
    mover.send({"n": 10})
    end = mover.final()
    told = back.final()
    assert (told["state"], told["match"]["id"]) == (end["state"], end["match"]["id"])
    assert back.closed().code == 1000


def test_when_the_node_of_both_is_killed_both_come_back_to_the_other(web: Web, mortal: Web, meet: Switchboard) -> None:
    """The match goes on where it was."""
    mover, other = meet.sit(nodes=(mortal, mortal))
    mover.send({"n": 1})
    both(mover, other)
    mortal.child.kill()
    dead(mover)
    dead(other)
    first, second = come_back(other, web, meet), come_back(mover, web, meet)
    first.send({"n": 9})
    assert both(first, second)["state"]["board"] == {"n": 10}


def test_when_a_node_is_killed_and_its_bot_does_not_come_back_the_match_is_void(
    web: Web, mortal: Web, meet: Switchboard
) -> None:
    """After the grace: a draw by the server's fault, told to who is left, and stored as void."""
    _, other = sit_with_the_mover_at(mortal, web, meet)
    mortal.child.kill()
    state = other.final()["state"]
    assert (state["victor"], state["reason"]) == (None, "error")
    assert other.closed().code == 1000
    path = f"/games/numberwang/{other.first['match']['id']}"
    wait_for(lambda: web.request(path)[0] == 200, "the archive")
    about = web.request(path)[1]["match"]
    assert (about["fault"], about["void"]) == ("server", True)


def test_when_a_node_is_killed_a_bot_that_waits_elsewhere_instead_has_left(
    web: Web, mortal: Web, meet: Switchboard
) -> None:
    """It comes back without its seat, for a contest: it loses, and the record says why."""
    mover, other = sit_with_the_mover_at(mortal, web, meet)
    mortal.child.kill()
    dead(mover)
    away = meet.login(mover.auth, web=web, login={"contest": f"away-{mover.bot}"})
    final = other.final()
    assert (final["state"]["victor"], final["state"]["reason"]) == (other.bot, "disconnect")
    path = f"/games/numberwang/{other.first['match']['id']}"
    wait_for(lambda: web.request(path)[0] == 200, "the archive")
    about = web.request(path)[1]["match"]
    assert (about["fault"], about["void"], about["evidence"]["elsewhere"]) == ("bot", False, [mover.bot])
    away.close()


def test_a_bot_that_waited_at_a_killed_node_is_met_by_nobody(web: Web, mortal: Web, meet: Switchboard) -> None:
    """Its ticket may be taken for a moment; then who met a ghost waits again, or plays the next who comes."""
    ghost = meet.login(meet.auth(), web=mortal)
    meet.until_waiting(1)
    mortal.child.kill()
    dead(ghost)
    kept = meet.login(meet.auth(), login={"protocol": 2, "session": "keep"})
    match_of_two(kept, meet)


def match_of_two(kept: Peer, meet: Switchboard) -> None:
    """The kept session plays somebody who is there, sooner or later."""
    for _ in range(3):
        other = meet.login(meet.auth())
        try:
            first = other.update(10)
        except (Closed, TimeoutError):
            continue
        while kept.update()["match"]["id"] != first["match"]["id"]:
            pass
        return
    raise AssertionError("nobody met the kept session")


def sit_with_the_mover_at(node: Web, other_node: Web, meet: Switchboard) -> Seats:
    """A match over two nodes with the bot on turn at `node`: tried until the lot falls so."""
    while True:
        mover, other = meet.sit(nodes=(node, other_node))
        if mover.sock.getpeername()[1] == node.settings.port:
            return mover, other
        mover.send({"n": 10})
        both(mover, other)


def come_back(peer: Peer, web: Web, meet: Switchboard) -> Peer:
    """The peer's bot on a new connection, with its seat: as an original client does, which only logs in again."""
    back = meet.login(peer.auth, web=web)
    assert back.update()["match"]["id"] == peer.first["match"]["id"]
    return back


def test_when_a_node_stops_its_bots_are_told_so_and_nobody_loses(web: Web, mortal: Web, meet: Switchboard) -> None:
    """SIGTERM: both are closed with 1001, have the grace to come back, and play on at the other node."""
    mover, other = meet.sit(nodes=(mortal, mortal))
    mover.send({"n": 1})
    both(mover, other)
    stopper = threading.Thread(target=mortal.child.stop)
    stopper.start()
    for peer in (mover, other):
        closed = peer.closed()
        assert (closed.code, closed.slug) == (1001, "restart")
    first, second = come_back(other, web, meet), come_back(mover, web, meet)
    first.send({"n": 9})
    assert both(first, second)["state"]["reason"] == "complete"
    stopper.join()


def test_when_a_node_stops_who_waits_there_is_told_so(mortal: Web, meet: Switchboard) -> None:
    """And is met by nobody any more."""
    waiting = meet.login(meet.auth(), web=mortal)
    meet.until_waiting(1)
    stopper = threading.Thread(target=mortal.child.stop)
    stopper.start()
    closed = waiting.closed()
    assert (closed.code, closed.slug) == (1001, "restart")
    meet.until_waiting(0)
    stopper.join()


def test_a_node_that_stops_has_closed_its_port_before_it_sends_its_bots_away(mortal: Web, meet: Switchboard) -> None:
    """They come back at once: a proxy passes them on to another node only if this one refuses them."""
    waiting = meet.login(meet.auth(), web=mortal)
    stopper = threading.Thread(target=mortal.child.stop)
    stopper.start()
    assert waiting.closed().slug == "restart"
    with pytest.raises(ConnectionError):
        Peer(mortal.address)
    stopper.join()


def test_a_node_that_stops_lets_nobody_in_whose_login_is_still_to_come(
    servers: Cluster, mortal: Web, meet: Switchboard
) -> None:
    """It had connected before: it is sent away as the others are, and no match begins with it."""
    auth, peer = meet.auth(), Peer(mortal.address)
    salt = peer.message()["salt"]
    stopper = threading.Thread(target=mortal.child.stop)
    stopper.start()
    wait_for(lambda: '"event":"node.drains"' in mortal.log.read_text(), "the node to stop")
    peer.send(login_for(auth, salt))
    closed = peer.closed()
    assert (closed.code, closed.slug) == (1001, "restart")
    assert f'"bot":"{auth["bot_id"]}"' not in servers.logs()
    stopper.join()


def test_a_node_that_was_taken_for_dead_takes_its_seats_again(
    servers: Cluster, web: Web, sleeper: Web, meet: Switchboard
) -> None:
    """It stood still for longer than a node may: its bots are connected still, and play on; nobody hangs for ever."""
    mover, other = sit_with_the_mover_at(sleeper, web, meet)
    with standing_still(sleeper.child.pid):
        orphaned = f'"match":"{mover.first["match"]["id"]}","bot":"{mover.bot}","event":"match.orphaned"'
        wait_for(lambda: orphaned in servers.logs(), "the sweep to notice")
    # it knows what it is asked, and is not asked twice
    mover.send({"n": 10})
    assert both(mover, other)["state"]["reason"] == "complete"


def test_a_turn_that_lay_unread_while_its_node_stood_still_is_acknowledged(
    servers: Cluster, web: Web, sleeper: Web, meet: Switchboard
) -> None:
    """Its seat was emptied meanwhile; it is applied all the same, echoed first of all, and the bot sits there again."""
    mover, other = sit_with_the_mover_at(sleeper, web, meet)
    with standing_still(sleeper.child.pid):
        orphaned = f'"match":"{mover.first["match"]["id"]}","bot":"{mover.bot}","event":"match.orphaned"'
        wait_for(lambda: orphaned in servers.logs(), "the sweep to notice")
        mover.send({"n": 1})
    assert mover.update()["turn"]["n"] == 1
    assert other.update()["turn"]["n"] == 1
    other.send({"n": 10})
    assert mover.final()["state"]["reason"] == "complete"


def test_a_seat_taken_elsewhere_while_its_node_stood_still_stays_where_it_is(
    servers: Cluster, web: Web, sleeper: Web, meet: Switchboard
) -> None:
    """The bot has come back to another node: when the first runs again it closes the old connection, and no more."""
    mover, other = sit_with_the_mover_at(sleeper, web, meet)
    with standing_still(sleeper.child.pid):
        back = come_back(mover, web, meet)
    closed = mover.closed()
    assert (closed.code, closed.slug) == (1008, "taken-over")
    back.send({"n": 10})
    assert both(back, other)["state"]["reason"] == "complete"


def test_a_match_that_ended_while_its_node_stood_still_is_told_when_it_runs_again(
    web: Web, sleeper: Web, meet: Switchboard
) -> None:
    """The grace is over, the match void: the bot that was there all the time is told so too, and closed."""
    mover, other = sit_with_the_mover_at(sleeper, web, meet)
    with standing_still(sleeper.child.pid):
        assert other.final()["state"]["reason"] == "error"
    state = mover.final()["state"]
    assert (state["complete"], state["victor"]) == (True, None)
    mover.closed()
