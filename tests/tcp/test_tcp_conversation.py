"""The TCP door: each numbered step of protocol duel-arena over real sockets; original clients pair after pair."""

from __future__ import annotations

import random
import select
import socket
import threading
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest
from cluster import Cluster, Tcp, wait_for
from original_tcp_client import OriginalTcpClient
from peer import new_name
from tcp_peer import Ended, Pair, TcpPeer

Join = Callable[..., TcpPeer]
MakePair = Callable[..., Pair]

TCP_SETTINGS = {"login_timeout_s": 2.0}


def at_random(board: dict[str, Any]) -> tuple[int, int]:
    """Any free space."""
    taken = {tuple(move) for move in board["_moves"]}
    return random.choice([(x, y) for x in range(15) for y in range(15) if (x, y) not in taken])


def test_original_clients_play_pair_after_pair(tcp: Tcp) -> None:
    """Three clients, four pairings each: two boards, colours changed, ends that agree, ids that grow."""
    clients = [OriginalTcpClient(tcp.address, new_name("my.name"), at_random) for _ in range(2)]
    threads = [threading.Thread(target=_play, args=(client, 4)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    one, two = clients
    assert (len(one.boards), len(two.boards)) == (8, 8)
    for mine, theirs in zip(one.boards, two.boards, strict=True):
        assert (mine.id, mine.moves) == (theirs.id, theirs.moves)
        assert {mine.end, theirs.end} == {"win", "lose"}
        assert (mine.first, theirs.first) in ((True, False), (False, True))
    for first, second in zip(one.boards[::2], one.boards[1::2], strict=True):
        assert first.first != second.first


def _play(client: OriginalTcpClient, pairings: int) -> None:
    client.log_in()
    for _ in range(pairings):
        client.play_pairing()
    client.leave()


def test_nobody_is_welcome_without_a_name_in_time(join: Join) -> None:
    """Closed after the login's time, with a coded word."""
    peer = join(enter=False)
    message = peer.read()
    assert (message["event"], message["code"]) == ("error", "login-timeout")
    assert peer.ended()


def test_steps_one_to_three(join: Join) -> None:
    """A name, a status, and the player is free; then silence."""
    peer = join()
    assert peer.silent(0.3)


def test_looking_twice_changes_nothing(join: Join) -> None:
    """While one waits, and while one plays."""
    one = join().find().find()
    two = join().find()
    pair = Pair(one, two)
    for peer in (one, two):
        assert peer.event("starting_game")["against"] in (one.name, two.name)
    pair.asked()
    pair.mover.find()
    pair.other.find()
    assert pair.other.silent(0.3)
    pair.over()


def test_the_question_is_asked_of_the_mover_only(pair: MakePair) -> None:
    """With the id, and the board in the original's keys."""
    table = pair()
    question = table.question
    assert set(question) == {"event", "id", "board"}
    assert isinstance(question["id"], str)
    board = question["board"]
    assert board == {"_id": board["_id"], "_size": 15, "_win_length": 5, "_moves": []}
    assert type(board["_id"]) is int
    assert table.other.silent(0.2)
    table.play((7, 7))
    assert table.question["board"]["_moves"] == [[7, 7]]
    assert table.question["board"]["_id"] == board["_id"]
    assert table.question["id"] != question["id"]


def test_a_move_for_another_question_is_ignored(pair: MakePair) -> None:
    """An old id, an unknown one, none: the board goes on."""
    table = pair()
    old = table.question
    table.play((1, 1), (2, 2))
    for stale in (old["id"], "1539438438.770872-98380", "", None, 7, ["x"]):
        table.mover.send({"event": "make_move", "id": stale, "x": 3, "y": 3})
    table.other.move(old, 5, 5)
    assert table.mover.silent(0.3)
    table.play((3, 3))
    assert table.question["board"]["_moves"] == [[1, 1], [2, 2], [3, 3]]


def test_the_same_move_twice_is_one_move(pair: MakePair) -> None:
    """Sent in one piece with the first: the second answers a question that is not open any more."""
    table = pair()
    table.mover.move(table.question, 4, 4)
    table.mover.move(table.question, 4, 4)
    question = table.other.event("get_move")
    assert question["board"]["_moves"] == [[4, 4]]
    assert table.mover.silent(0.2)


@pytest.mark.parametrize(("x", "y"), [("4", 5), (4, " 5 "), ("+4", "05"), (4.0, 5)])
def test_numbers_as_strings_are_taken(pair: MakePair, x: Any, y: Any) -> None:
    """As the original took them."""
    table = pair()
    table.mover.move(table.question, x, y)
    assert table.other.event("get_move")["board"]["_moves"] == [[4, 5]]


def test_five_in_a_row_end_the_board_and_the_second_follows(pair: MakePair) -> None:
    """Win and lose with the final board, then at once the first question of the second to the other player."""
    table = pair()
    first = table.mover
    winner, loser = table.until_five()
    final = winner.event("win")["board"]
    assert loser.event("lose")["board"] == final
    assert len(final["_moves"]) == 9
    assert final["_moves"][-1] == [4, 0]
    table.asked()
    assert (winner, table.mover, table.other) == (first, loser, winner)
    board = table.question["board"]
    assert board["_moves"] == []
    assert board["_id"] > final["_id"]
    winner, loser = table.until_five()
    winner.event("win")
    loser.event("lose")
    for peer in (winner, loser):
        peer.event("player_is_free")


def test_after_both_boards_one_may_look_again_or_leave(pair: MakePair, join: Join) -> None:
    """Who leaves harms nobody; who looks again finds the next."""
    table = pair()
    table.over()
    table.one.leave()
    third = join()
    again = Pair(table.two, third).begin()
    again.over()


def test_a_draw_says_nothing(servers: Cluster, tcp: Tcp, join: Join) -> None:
    """A full board: the next message is the next board's; after the second, that the player is free."""
    table = Pair(join(), join()).begin()
    for board in range(2):
        spaces = _drawn()
        table.play(*spaces[:-1])
        table.mover.move(table.question, *spaces[-1])
        if board == 0:
            mover = table.mover
            table.asked()
            assert table.question["board"]["_moves"] == []
            assert mover in (table.one, table.two)
    for peer in (table.one, table.two):
        assert peer.read() == {"event": "player_is_free"}


def _drawn() -> list[tuple[int, int]]:
    """Every space of the board in an order in which nobody ever has five in a line."""
    own: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for y in range(15):
        for x in range(15):
            own[(x + 2 * (y % 2) + (y // 2) * 0) % 4 < 2].append((x, y))
    first, second = sorted(own.values(), key=len, reverse=True)
    while len(first) - len(second) > 1:
        second.append(first.pop())
    return [space for two in zip(first, [*second, None], strict=False) for space in two if space is not None]


@pytest.mark.parametrize("on_turn", [True, False])
def test_of_connections_that_come_at_once_one_has_the_name_and_the_seat(
    tcp: Tcp, pair: MakePair, on_turn: bool
) -> None:
    """Whichever was the last to be let in: none of the others takes the seat from it while it leaves."""
    for _ in range(6):
        table = pair()
        name = table.mover.name if on_turn else table.other.name
        came = [TcpPeer(tcp.address) for _ in range(8)]
        for peer in came:
            peer.send({"username": name})
        stays = only_one_of(came)
        if on_turn:
            stays.move(table.question, 7, 7)
            assert table.other.event("get_move")["board"]["_moves"] == [[7, 7]]
        else:
            table.mover.move(table.question, 7, 7)
            assert stays.event("get_move")["board"]["_moves"] == [[7, 7]]
        for peer in (*came, table.one, table.two):
            peer.leave()


def only_one_of(peers: list[TcpPeer]) -> TcpPeer:
    """The one that the arena does not close, once it has closed all others and let this one in."""
    left, welcome = list(peers), set()
    while len(left) > 1:
        ready, _, _ = select.select([peer.sock for peer in left], [], [], 20)
        assert ready, "several stay"
        for peer in [peer for peer in left if peer.sock in ready]:
            try:
                if peer.read() == {"status": "ok"}:
                    welcome.add(peer)
            except Ended:
                left.remove(peer)
    if left[0] not in welcome:
        assert left[0].read() == {"status": "ok"}
    return left[0]


def test_every_message_is_one_segment(tcp: Tcp, join: Join) -> None:
    """Header and body come by one read; the original's two sends cost 44 ms a move."""
    peer = join(enter=False)
    peer.send({"username": new_name()})
    peer.sock.settimeout(10)
    wait_for(lambda: len(peer.sock.recv(4096, socket.MSG_PEEK)) > 4, "an answer")
    data = peer.sock.recv(4096)
    size = int.from_bytes(data[:4])
    assert len(data) >= 4 + size


def test_a_move_costs_little(pair: MakePair) -> None:
    """No 40 ms of delayed acknowledgements, not even one player's, at most moves of a board, of one of some."""
    spaces = [(x, y) for y in range(0, 14, 3) for x in range(15)]
    own, others = spaces[::2], [(x, y + 1) for x, y in spaces[::2]]
    medians_s = []
    for _ in range(5):
        table, took_s = pair(), []
        for each_one in zip(own[::2], others[::2], strict=True):
            began_s = time.monotonic()
            table.play(*each_one)
            took_s.append(time.monotonic() - began_s)
        medians_s.append(median(took_s))
        if medians_s[-1] < 0.04:
            return
    raise AssertionError(medians_s)


def test_whoever_was_met_longest_ago_is_preferred(servers: Cluster) -> None:
    """With a delay, in which several come: of those who wait, the one met least recently, strangers first."""
    node = servers.tcp(tcp_pairing_delay_s=1.0)
    names = [new_name(word) for word in ("a", "b", "c")]
    peers = {name: TcpPeer(node.address).enter(name) for name in names}
    a, b, c = peers.values()
    Pair(a, b).begin().over()
    for peer in (a, b, c):
        peer.find()
    assert c.event("starting_game")["against"] in (a.name, b.name)
    for peer in peers.values():
        peer.reset()
