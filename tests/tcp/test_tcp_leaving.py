"""The TCP door: each way to leave, second connections, time-outs, and two nodes."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from cluster import LIMIT_S, Cluster, Tcp, wait_for
from peer import new_name
from slow_line import slow_line
from tcp_peer import Ended, Pair, TcpPeer

from battlebot.arena.live.queue import LEAVE, STILL, Queues
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.referee.match import Match
from battlebot.wire.duel import GAME

Join = Callable[..., TcpPeer]
MakePair = Callable[..., Pair]

# with the half second that nobody is told of: 3.5 s
TCP_SETTINGS = {"turn_timeout_ms": 3000}
GRANTED_S = 3.5


@pytest.fixture(scope="module")
def second(servers: Cluster) -> Tcp:
    """A further node beside the module's."""
    return servers.tcp(**TCP_SETTINGS)


def test_no_answer_in_time_loses_the_board(pair: MakePair) -> None:
    """After the time that is granted, not the one that is shown; the coordinates are null; the player stays."""
    table = pair()
    began_s = time.monotonic()
    loser, winner = table.mover, table.other
    message = loser.event("invalid_move")
    assert time.monotonic() - began_s >= GRANTED_S - 0.1
    assert (message["x"], message["y"]) == (None, None)
    loser.event("lose")
    winner.event("win")
    table.asked()
    assert table.mover is winner
    table.until_five()


def test_an_answer_within_the_granted_time_counts(pair: MakePair) -> None:
    """Later than what is shown, earlier than what is granted."""
    table = pair()
    time.sleep(3.02)  # not to wait for something: the player's own thinking
    table.mover.move(table.question, 3, 3)
    assert table.other.event("get_move")["board"]["_moves"] == [[3, 3]]


@pytest.mark.parametrize("how", ["leave", "reset", "half a message"])
@pytest.mark.parametrize("on_turn", [True, False])
def test_who_leaves_loses_both_boards(pair: MakePair, join: Join, how: str, on_turn: bool) -> None:
    """The running one when the clock runs out, the second at once after it; the other is free."""
    table = pair().play((1, 1))
    gone, stays = (table.mover, table.other) if on_turn else (table.other, table.mover)
    began_s = time.monotonic()
    if how == "half a message":
        gone.raw(b"\0\0\0\x50{")
    gone.reset() if how == "reset" else gone.leave()
    if not on_turn:
        # it moves, so that its own clock has nothing to do with it
        stays.move(table.question, 2, 2)
    first = stays.event("win")["board"]
    assert 0.5 < time.monotonic() - began_s < 10
    ended_s = time.monotonic()
    second = stays.event("win")["board"]
    assert time.monotonic() - ended_s < GRANTED_S
    assert second["_moves"] == []
    assert second["_id"] > first["_id"]
    stays.event("player_is_free")
    Pair(stays, join()).begin()


def test_who_is_away_at_the_end_of_a_board_has_no_longer_for_the_second(
    pair: MakePair, join: Join, module_settings: Settings
) -> None:
    """Its opponent loses the first by its move; the second ends in time without any sweep."""
    table = pair()
    table.other.leave()
    wait_for(lambda: _is_away(table.other, module_settings), "the empty seat")
    table.mover.move(table.question, 99, 0)
    stays = table.mover
    stays.event("invalid_move")
    stays.event("lose")
    stays.event("win")
    stays.event("player_is_free")
    Pair(stays, join()).begin()


def test_both_gone_is_nobodys_board(pair: MakePair, join: Join, module_settings: Settings) -> None:
    """Both boards end, and each player may come back under its name and play."""
    table = pair()
    names = (table.one.name, table.two.name)
    table.one.leave()
    table.two.leave()
    client = connect(module_settings.redis_url)
    wait_for(lambda: not any(client.exists(keys.playing(name)) for name in names), "the boards to end")
    client.close()
    Pair(*(join(name) for name in names)).begin().over()


def test_a_second_connection_closes_the_first(join: Join) -> None:
    """Which may have been waiting: its ticket is gone with it."""
    first = join().find()
    second = join(first.name)
    assert first.ended()
    other = join().find()
    assert other.silent(0.3)
    second.find()
    assert other.event("starting_game")["against"] == second.name


def test_who_says_its_name_last_has_it_also_on_an_older_connection(tcp: Tcp, join: Join) -> None:
    """The order of connections counts only for logins that come at the same time."""
    older = join(enter=False)
    newer = join()
    older.enter(newer.name)
    assert newer.ended()
    assert older.silent(0.05)


def test_of_connections_that_do_not_wait_for_each_other_the_last_stays(tcp: Tcp) -> None:
    """Their logins are answered at the same time, and each asks Redis for the name by a connection of its own."""
    for _ in range(10):
        name = new_name("hasty")
        peers = [TcpPeer(tcp.address) for _ in range(4)]
        for peer in peers:
            peer.send({"username": name})
        assert peers[-1].read() == {"status": "ok"}
        assert peers[-1].read() == {"event": "player_is_free"}
        for peer in peers[:-1]:
            _read_to_the_end(peer)
        assert peers[-1].silent(0.05)
        peers[-1].leave()


@pytest.mark.parametrize("on_turn", [True, False])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_second_connection_takes_over_in_the_running_board(
    pair: MakePair, join: Join, second: Tcp, tcp: Tcp, on_turn: bool, elsewhere: bool
) -> None:
    """The open question comes again, by the same id; the board goes on to its end, and the second after it."""
    table = pair().play((7, 7), (8, 8))
    old = table.mover if on_turn else table.other
    new = TcpPeer((second if elsewhere else tcp).address)
    new.name = old.name
    new.send({"username": old.name})
    assert new.read() == {"status": "ok"}
    assert old.ended()
    if table.one is old:
        table.one = new
    else:
        table.two = new
    if on_turn:
        assert new.read() == table.question
        table.mover = new
    else:
        assert new.silent(0.2)
        table.other = new
    table.play((0, 0), (1, 1))
    table.mover.move(table.question, 9, 14)
    table.mover, table.other = table.other, table.mover
    table.question = table.mover.event("get_move")
    table.mover.move(table.question, 99, 0)
    table.mover.event("invalid_move")
    table.mover.event("lose")
    table.other.event("win")
    table.asked()
    winner, loser = table.until_five()
    winner.event("win")
    loser.event("lose")
    winner.event("player_is_free")
    loser.event("player_is_free")
    new.leave()


def test_the_clock_goes_on_over_a_second_connection(pair: MakePair, tcp: Tcp) -> None:
    """Coming again and again gives no time."""
    table = pair()
    began_s = time.monotonic()
    peers: list[TcpPeer] = []
    while table.other.silent(0.1):
        peers.append(TcpPeer(tcp.address))
        peers[-1].send({"username": table.mover.name})
        assert time.monotonic() - began_s < 10 * GRANTED_S
    assert len(peers) > 5
    table.other.event("win")
    for peer in peers:
        peer.leave()


def test_who_comes_back_in_time_plays_on(pair: MakePair, tcp: Tcp) -> None:
    """The seat was left, not lost: the question comes again."""
    table = pair().play((5, 5))
    table.mover.leave()
    back = TcpPeer(tcp.address)
    back.name = table.mover.name
    back.send({"username": back.name})
    assert back.read() == {"status": "ok"}
    assert back.read() == table.question
    back.move(table.question, 6, 6)
    assert table.other.event("get_move")["board"]["_moves"] == [[5, 5], [6, 6]]
    back.leave()


def test_players_of_two_nodes_play(join: Join, second: Tcp) -> None:
    """Both boards, in order on each side, with the same ids."""
    one, two = join(), join(node=second)
    Pair(one, two).begin().over()
    Pair(two, one).begin().over()


def test_a_second_connection_on_another_node_closes_the_first_one_that_waits(join: Join, second: Tcp) -> None:
    """By a letter."""
    first = join().find()
    again = join(first.name, node=second)
    assert first.ended()
    again.find()
    Pair(join(), again)
    assert join().find().event("starting_game")["against"] == first.name


def test_a_killed_node_takes_nobodys_board(servers: Cluster, join: Join, workers: object) -> None:
    """Its players come to another, and get their seats back with their clocks stopped."""
    doomed = servers.tcp(**TCP_SETTINGS, node_timeout_s=2.0)
    table = _with_one_on_turn(Pair(join(node=doomed), join()).begin().play((7, 7), (7, 8)))
    doomed.child.kill()
    lost = table.one
    table.one = back = _back(join, lost.name)
    assert back.read() == table.question
    table.mover = back
    table.play((0, 0), (1, 1))
    back.leave()


def test_a_node_that_stops_sends_its_players_to_another(servers: Cluster, join: Join, workers: object) -> None:
    """They come back to where they were."""
    stopping = servers.tcp(**TCP_SETTINGS)
    table = _with_one_on_turn(Pair(join(node=stopping), join()).begin().play((3, 3)))
    lost = table.one
    stopping.child.stop()
    assert lost.ended()
    table.one = back = _back(join, lost.name)
    assert back.read() == table.question
    table.mover = back
    table.play((4, 4))


def test_a_node_that_stops_lets_nobody_in_whose_name_is_still_to_come(servers: Cluster) -> None:
    """It had connected before: it is sent to another node without a word, and no board begins with it.

    Who connects now is refused: a proxy passes it on.
    """
    stopping = servers.tcp(**TCP_SETTINGS)
    peer, name = TcpPeer(stopping.address), new_name("player")
    stopper = threading.Thread(target=stopping.child.stop)
    stopper.start()
    wait_for(lambda: '"event":"node.drains"' in stopping.log.read_text(), "the node to stop")
    with pytest.raises(ConnectionRefusedError):
        TcpPeer(stopping.address)
    peer.send({"username": name})
    assert peer.ended()
    stopper.join()


def _with_one_on_turn(table: Pair) -> Pair:
    """The clock of the other would go on, however long a node takes to stop."""
    return table if table.mover is table.one else table.play((9, 9))


def _back(join: Join, name: str) -> TcpPeer:
    back = join(enter=False)
    back.name = name
    back.send({"username": name})
    assert back.read() == {"status": "ok"}
    return back


def test_names_are_free_again_when_their_players_are_gone(join: Join, module_settings: Settings) -> None:
    """Nobody is online who is not there."""
    name = new_name("fleeting")
    peer = join(name)
    client = connect(module_settings.redis_url)
    assert client.hexists(keys.ONLINE, name)
    peer.leave()
    wait_for(lambda: not client.hexists(keys.ONLINE, name), "the name to be free")
    client.close()


@pytest.mark.parametrize("how", ["leave", "reset", "half a message"])
def test_who_leaves_while_it_waits_is_nobodys_opponent(join: Join, module_settings: Settings, how: str) -> None:
    """Its ticket goes with it."""
    gone = join().find()
    client = connect(module_settings.redis_url)
    queue = keys.queue(GAME)
    wait_for(lambda: client.zcard(queue) == 1, "the ticket")
    if how == "half a message":
        gone.raw(b"\0\0\0\x20{")
    gone.reset() if how == "reset" else gone.leave()
    wait_for(lambda: client.zcard(queue) == 0, "the ticket to go")
    client.close()
    one, two = join().find(), join().find()
    assert one.event("starting_game")["against"] == two.name


class Gate:
    """Where what a node has to say to Redis about those who leave its queues waits until it is opened.

    `waits`: it has said that somebody still waits, so nobody is being let in any more.
    """

    def __init__(self) -> None:
        self.waits, self.reached, self.opened = threading.Event(), threading.Event(), threading.Event()

    def pass_on(self, data: bytes) -> None:
        """Waits with a ticket that is to be taken out of its queue."""
        if STILL.sha.encode() in data:
            self.waits.set()
        if LEAVE.sha.encode() in data:
            self.reached.set()
            self.opened.wait()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Open at the end of the test."""
    made = Gate()
    yield made
    made.opened.set()


def test_who_leaves_while_a_board_is_made_for_it_has_left_by_itself(
    servers: Cluster, join: Join, gate: Gate, module_settings: Settings
) -> None:
    """The server has not lost its place: it is told nothing more, and its opponent wins, and does not wait for it."""
    with slow_line(servers.settings.redis_url, pass_on=gate.pass_on) as address:
        far = servers.tcp(**TCP_SETTINGS, redis_url=address)
        leaver = join(node=far).find()
        assert gate.waits.wait(LIMIT_S)
        leaver.sock.shutdown(socket.SHUT_WR)
        assert gate.reached.wait(LIMIT_S)
        comer = join().find()
        assert comer.event("starting_game")["against"] == leaver.name
        begins = _on_turn(comer, module_settings) == comer.name
        if begins:
            # with an invalid move the first board is over at once
            comer.move(comer.event("get_move"), 99, 0)
            comer.event("invalid_move")
            comer.event("lose")
        # on a slow machine its node has waited for Redis for too long, and ends the connection
        assert leaver.silent(0.5) or leaver.ended()
        gate.opened.set()
        for _ in range(1 if begins else 2):
            # if it begins a board, it may be asked before the other node is heard again
            while (message := comer.read())["event"] == "get_move":
                pass
            assert message["event"] == "win"
        comer.event("player_is_free")
        assert "unknown-place" not in far.log.read_text()
        far.child.kill()


def test_who_is_sent_away_while_a_board_is_made_for_it_knows_its_opponent(
    servers: Cluster, join: Join, gate: Gate, module_settings: Settings
) -> None:
    """Where it comes back it is asked, and not told once more that the board has begun."""
    with slow_line(servers.settings.redis_url, pass_on=gate.pass_on) as address:
        stopping = servers.tcp(**TCP_SETTINGS, redis_url=address)
        leaver = join(node=stopping).find()
        wait_for(lambda: _waits(leaver, module_settings), "the ticket")
        stopper = threading.Thread(target=stopping.child.stop)
        stopper.start()
        assert gate.reached.wait(LIMIT_S)
        comer = join().find()
        for peer, against in ((leaver, comer), (comer, leaver)):
            assert peer.event("starting_game")["against"] == against.name
        gate.opened.set()
        stopper.join()
    Pair(_back(join, leaver.name), comer).asked().play((3, 3))


def _waits(player: TcpPeer, settings: Settings) -> bool:
    with connect(settings.redis_url) as client:
        return player.name in {ticket.bot for ticket in Queues(client).tickets(GAME)}


def _on_turn(player: TcpPeer, settings: Settings) -> str:
    return _match_of(player, settings).state["nextPlayer"]


def _is_away(player: TcpPeer, settings: Settings) -> bool:
    seat = _match_of(player, settings).seat_of(player.name)
    return seat is not None and seat.back_by_s is not None


def _match_of(player: TcpPeer, settings: Settings) -> Match:
    with connect(settings.redis_url) as client:
        live = MatchStore(client)
        matches = live.load_many(live.live_ids()).values()
    return next(match for match in matches if match.seat_of(player.name))


def test_who_has_lost_two_boards_by_their_moves_may_look_again(pair: MakePair) -> None:
    """Nothing is held against them."""
    table = pair()
    for board in range(2):
        table.mover.move(table.question, 99, 0)
        table.mover.event("invalid_move")
        table.mover.event("lose")
        table.other.event("win")
        if board == 0:
            table.asked()
    for peer in (table.one, table.two):
        peer.event("player_is_free")
    table.begin()


def _read_to_the_end(peer: TcpPeer) -> None:
    """Returns when the arena has ended the connection; raises TimeoutError if it does not."""
    with suppress(Ended, ConnectionError):
        while True:
            peer.read()
