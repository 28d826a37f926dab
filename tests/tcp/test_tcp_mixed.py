"""A player at the TCP door meets bots of the WebSocket door; names of the one are not free at the other."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from cluster import Cluster, Tcp, Web, wait_for
from peer import Peer, new_name
from switchboard import Switchboard
from tcp_peer import TcpPeer, login_hash

from battlebot.config import Settings
from battlebot.storage import Storage

Join = Callable[..., TcpPeer]

SETTINGS = {"turn_timeout_ms": 20_000}
TCP_SETTINGS = SETTINGS


def play_tcp(peer: TcpPeer, log: list[dict[str, Any]]) -> None:
    """Takes the first free space from the left, row after row; until it is free."""
    while (message := peer.read())["event"] != "player_is_free":
        log.append(message)
        if message["event"] == "get_move":
            taken = message["board"]["_moves"]
            x, y = next((x, y) for y in range(15) for x in range(15) if [x, y] not in taken)
            peer.move(message, x, y)


def play_ws(bot: Peer, matches: int) -> list[dict[str, Any]]:
    """Takes the last free space, column after column; the final states of so many matches."""
    finals: list[dict[str, Any]] = []
    while len(finals) < matches:
        update = bot.update()
        state = update["state"]
        if state["complete"]:
            finals.append(update)
        elif state["nextPlayer"] == bot.bot:
            board = state["board"]
            x, y = next((x, y) for x in range(14, -1, -1) for y in range(14, -1, -1) if not board[y][x])
            bot.send({"x": x, "y": y})
    return finals


def in_thread(call: Callable[..., Any], *arguments: Any) -> threading.Thread:
    """Runs beside the test."""
    thread = threading.Thread(target=call, args=arguments, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("player_first", [True, False])
def test_a_bot_that_keeps_its_session_plays_both_boards(
    meet: Switchboard, join: Join, workers: Web, player_first: bool
) -> None:
    """Colours changed; then the player is free, and the bot waits for the next."""
    player, log = join(), []
    auth = meet.auth("gomoku")
    if player_first:
        player.find()
    bot = meet.login(auth, login={"protocol": 2, "session": "keep"})
    if not player_first:
        meet.until_waiting(1, "gomoku")
        player.find()
    thread = in_thread(play_tcp, player, log)
    finals = play_ws(bot, 2)
    thread.join(20)
    assert not thread.is_alive()
    assert sum(message["event"] == "starting_game" for message in log) == 1
    assert sum(message["event"] in ("win", "lose") for message in log) == 2
    first, second = (final["state"]["players"] for final in finals)
    assert first == second[::-1]
    assert set(first) == {player.name, bot.bot}
    assert [final["match"]["series"]["board"] for final in finals] == [1, 2]
    meet.until_waiting(1, "gomoku")
    bot.reset()


def test_a_player_is_free_after_one_board_where_the_bot_leaves(meet: Switchboard, join: Join, workers: Web) -> None:
    """The bot plays one match a connection: no second board follows, and the player may ask for the next opponent."""
    player = join()
    for _ in range(2):
        log: list[dict[str, Any]] = []
        thread = in_thread(play_tcp, player.find(), log)
        bot = meet.login(meet.auth("gomoku"))
        [final] = play_ws(bot, 1)
        assert bot.closed().code == 1000
        thread.join(20)
        assert not thread.is_alive()
        assert [message["against"] for message in log if message["event"] == "starting_game"] == [bot.bot]
        assert sum(message["event"] in ("win", "lose") for message in log) == 1
        assert final["match"]["series"]["boards"] == 1


def test_strikes_are_the_websocket_bots_only(meet: Switchboard, join: Join) -> None:
    """Against the same player one has three, the other none."""
    player = join().find()
    bot = meet.login(meet.auth("gomoku"))
    update = bot.update()
    player.event("starting_game")
    if update["state"]["nextPlayer"] != bot.bot:
        question = player.event("get_move")
        player.move(question, 0, 0)
        update = bot.update()
    bot.send({"x": 99, "y": 99})
    refused = bot.update()
    assert (refused["turn"]["valid"], refused["state"]["complete"]) == (False, False)
    bot.send({"x": 5, "y": 5})
    assert bot.update()["turn"]["valid"]
    question = player.event("get_move")
    player.move(question, 5, 5)
    player.event("invalid_move")
    player.event("lose")
    final = bot.final()
    assert (final["state"]["victor"], final["state"]["reason"]) == (bot.bot, "invalid")


def test_a_bots_name_is_not_free_without_its_login(meet: Switchboard, join: Join) -> None:
    """It is asked for by a salt; the right hash lets it in, a wrong one is refused and closed."""
    auth = meet.auth("gomoku")
    peer = join(enter=False)
    peer.send({"username": auth["bot_id"]})
    salt = peer.read()
    assert set(salt) == {"salt"}
    peer.send({"username": auth["bot_id"], "login_hash": login_hash(auth["pass_hash"], salt["salt"])})
    assert peer.read() == {"status": "ok"}
    peer.event("player_is_free")
    thief = join(enter=False)
    thief.send({"username": auth["bot_id"]})
    thief.read()
    thief.send({"username": auth["bot_id"], "login_hash": "0" * 64})
    assert thief.event("error")["code"] == "login-failed"
    assert thief.ended()
    assert peer.silent(0.2), "the thief has closed nobody"


def test_who_insists_without_a_hash_is_refused(meet: Switchboard, join: Join) -> None:
    """The name alone is not enough however often it is said."""
    auth = meet.auth("gomoku")
    peer = join(enter=False)
    peer.send({"username": auth["bot_id"]})
    assert set(peer.read()) == {"salt"}
    peer.send({"username": auth["bot_id"]})
    assert peer.event("error")["code"] == "login-failed"
    assert peer.ended()


def test_a_bot_of_another_game_has_no_business_here(meet: Switchboard, join: Join) -> None:
    """But its name is taken all the same."""
    auth = meet.auth("numberwang")
    peer = join(enter=False)
    peer.send({"username": auth["bot_id"]})
    salt = peer.read()["salt"]
    peer.send({"username": auth["bot_id"], "login_hash": login_hash(auth["pass_hash"], salt)})
    assert peer.event("error")["code"] == "login-failed"


def test_a_name_that_was_registered_meanwhile_needs_its_login(
    meet: Switchboard, join: Join, module_settings: Settings
) -> None:
    """Without Redis nobody knows that it is in use. Whoever had it before plays no more under it."""
    peer = join()
    Storage(module_settings).bots.register("gomoku", peer.name, "me", b"sealed", peer.name)
    peer.find()
    assert peer.event("error")["code"] == "name-taken"
    assert peer.ended()


ALIKE: dict[str, Callable[[str], str]] = {
    "in Cyrillic letters": lambda name: name.replace("o", "о").replace("a", "а"),
    "in full width": lambda name: "".join(chr(ord(char) + 0xFEE0) for char in name),
    "with a blank": lambda name: name + " ",
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
}


@pytest.mark.parametrize("game", ["gomoku", "numberwang"])
@pytest.mark.parametrize("how", ["the same", *ALIKE])
def test_a_name_in_use_cannot_be_registered(meet: Switchboard, join: Join, how: str, game: str) -> None:
    """Nor one that looks like it, until its player has left: it plays on."""
    name = new_name("\u00e5" if how == "decomposed" else "boa")
    peer = join(ALIKE.get(how, str)(name))
    status, body = meet.web.request(f"/bots/{game}", {"bot_id": name})
    assert (status, body["code"]) == (409, "name-taken")
    peer.find()
    other = join().find()
    assert peer.event("starting_game")["against"] == other.name
    peer.leave()
    wait_for(lambda: meet.web.request(f"/bots/{game}", {"bot_id": name})[0] == 201, "a name that is free again")


@pytest.mark.parametrize("how", ALIKE)
def test_a_name_that_looks_like_a_registered_one_is_nobodys_without_its_login(
    meet: Switchboard, join: Join, how: str
) -> None:
    """Records, pages and rankings show it as if it were that bot's."""
    bot = new_name("\u00e5" if how == "decomposed" else "boa")
    meet.web.register(bot, "gomoku")
    assert ALIKE[how](bot) != bot
    peer = join(enter=False)
    peer.send({"username": ALIKE[how](bot)})
    assert set(peer.read()) == {"salt"}
    peer.send({"username": ALIKE[how](bot), "login_hash": "0" * 64})
    assert peer.event("error")["code"] == "login-failed"


def test_an_operator_may_demand_the_login_of_everybody(servers: Cluster, meet: Switchboard, join: Join) -> None:
    """The salt comes first; a name alone is refused, a registered bot gets in."""
    strict: Tcp = servers.tcp(tcp_require_login=True, **TCP_SETTINGS)
    nobody = join(node=strict, enter=False)
    assert set(nobody.read()) == {"salt"}
    nobody.send({"username": new_name()})
    nobody.send({"username": new_name(), "login_hash": "1" * 64})
    assert nobody.event("error")["code"] == "login-failed"
    auth = meet.auth("gomoku")
    bot = join(node=strict, enter=False)
    salt = bot.read()["salt"]
    bot.send({"username": auth["bot_id"], "login_hash": login_hash(auth["pass_hash"], salt)})
    assert bot.read() == {"status": "ok"}


def test_the_record_says_who_had_no_password(meet: Switchboard, join: Join, workers: Web) -> None:
    """And which board of which pairing it was."""
    player, log = join().find(), []
    thread = in_thread(play_tcp, player, log)
    bot = meet.login(meet.auth("gomoku"), login={"protocol": 2, "session": "keep"})
    finals = play_ws(bot, 2)
    thread.join(20)
    path = "/games/gomoku/" + finals[1]["match"]["id"]
    stored = wait_for(lambda: (answer := workers.request(path))[0] == 200 and answer[1], "the record")
    series = stored["match"]["series"]
    assert (series["board"], series["boards"], series["passwordless"]) == (2, 2, [player.name])
    numbers = [message["board"]["_id"] for message in log if message["event"] in ("win", "lose")]
    assert numbers[1] == series["number"]
