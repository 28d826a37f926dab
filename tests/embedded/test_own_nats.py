"""The embedded nats-server: there with the server, so that a bot can listen before it is registered."""

from __future__ import annotations

import json
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cluster
import pytest
from processes import eventually

from battlebot.config import Settings
from battlebot.embedded.nats import LEAST_PAYLOAD, nats_program, with_nats
from battlebot.embedded.server import Server, running
from battlebot.errors import EmbeddedError
from battlebot.wire.macondo.history import request_of
from battlebot.wire.names import MAX_NAME_LENGTH
from games import crossword
from games.crossword.board import ALL_TILES, RACK, SIZE

sys.path.insert(0, str(Path(__file__).parents[1] / "stateless"))
from natsbots import NatsBot

Make = Callable[..., Settings]


def listens(port: int) -> bool:
    """Whether somebody does, there."""
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


def registered(server: Server, bot_id: str, address: str) -> tuple[int, str | None]:
    """The status of registering a bot of this name at that address, and the code of its test if it failed."""
    body = json.dumps({"bot_id": bot_id, "url": address}).encode()
    request = urllib.request.Request(f"{server.url}/bots/crossword", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, None
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)["test"]["code"]


def payload(server: Server) -> int:
    """How large a message may be, as its NATS says to whoever connects."""
    with socket.create_connection(("127.0.0.1", server.settings.nats_port)) as connection:
        told = connection.makefile("rb").readline()
    return int(json.loads(told.removeprefix(b"INFO "))["max_payload"])


@pytest.fixture(scope="module")
def server(make_module_settings: Make) -> Iterator[Server]:
    """A whole server with a NATS, for tests that leave that alone."""
    with running(make_module_settings("whole", nats_port=cluster.free_port()), logs_in_files=True) as made:
        yield made


@pytest.fixture(scope="module")
def standin(make_module_settings: Make) -> Iterator[Server]:
    """A server around the stand-in, whose NATS may be stopped if it is there again at the end of the test."""
    settings = make_module_settings("standin", nats_port=cluster.free_port(), bot_answer_bytes=1_000_000)
    with running(settings, wsgi_module="standin") as made:
        eventually(lambda: listens(settings.nats_port))
        yield made
    assert not listens(settings.nats_port), "it ends with its server"


def test_a_bot_that_listens_before_it_is_registered_plays(server: Server) -> None:
    """As a program does that ends where no NATS is."""
    bot = NatsBot(server.settings.nats_url, "test.embedded")
    assert registered(server, "listener", bot.address) == (201, None)
    bot.close()


def test_a_bot_that_does_not_listen_is_told_so(server: Server) -> None:
    """It is refused for that, and not because there is no NATS."""
    assert registered(server, "nobody", "nats://nobody.there") == (400, "nobody")


def test_the_operators_nats_is_left_alone(free_port: Callable[[], int]) -> None:
    """There is no embedded one beside it, and none where the port is 0."""
    own = Settings(nats_url="nats://nats.example:4222", nats_port=free_port())
    assert with_nats(own) == own
    assert with_nats(Settings(nats_port=0)).nats_url == ""


def test_a_port_that_is_taken_is_an_error_where_it_was_chosen(free_port: Callable[[], int]) -> None:
    """With the variable's name."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port)), pytest.raises(EmbeddedError, match="BATTLEBOT_NATS_PORT"):
        with_nats(Settings(nats_port=port))


@pytest.mark.parametrize(("part", "changes"), [("web node", {"port": 23456}), ("TCP door", {"tcp_port": 23456})])
def test_a_port_of_another_part_is_an_error_where_it_was_chosen(part: str, changes: dict[str, int]) -> None:
    """Each would keep the other from its port: before either is started. Without a choice there is no NATS."""
    with pytest.raises(EmbeddedError, match=rf"^The {part} is to listen on 23456\. .*BATTLEBOT_NATS_PORT"):
        with_nats(Settings(nats_port=23456, **changes))
    usual = Settings(**dict.fromkeys(changes, Settings.nats_port))
    assert with_nats(usual) == replace(usual, nats_port=0)


def test_a_nats_that_is_killed_is_there_again(standin: Server) -> None:
    """Whatever becomes of it."""
    standin.child("nats").kill()
    eventually(lambda: listens(standin.settings.nats_port))


def test_another_server_on_the_port_ends_nothing(standin: Server) -> None:
    """Ours is started as soon as the port is free."""
    port = standin.settings.nats_port
    standin.supervisor.stop_one("nats")
    with socket.create_server(("127.0.0.1", port)):
        standin.supervisor.start(nats_program(standin.settings))
        eventually(lambda: not standin.child("nats").alive)
        assert not standin.supervisor.wait(1.0)
    eventually(lambda: standin.child("nats").alive and listens(port))


def test_its_lines_are_in_a_file_of_their_own(standin: Server) -> None:
    """Also where the other parts write to stderr: they are no events."""
    log = standin.settings.data / "logs" / "nats.log"
    eventually(lambda: "Server is ready" in log.read_text())


def test_a_message_has_the_size_of_a_few_answers(server: Server, standin: Server) -> None:
    """So that floods of them fill no connection; whatever answers may be."""
    assert [one.settings.bot_answer_bytes for one in (server, standin)] == [65_536, 1_000_000]
    assert [payload(one) for one in (server, standin)] == [131_072, 2_000_000]


def test_the_longest_question_is_a_message() -> None:
    """Of two bots that make it as long as they can: a phony taken back five times between two plays of one tile."""
    bots = ["\U00020000" * MAX_NAME_LENGTH, "\U00020001" * MAX_NAME_LENGTH]
    state = crossword.initial_state(bots, 7, {"challengeRule": "TEN_POINT", "lexicon": "enable1"})
    told: list[dict[str, Any]] = []
    for lying in range(len(ALL_TILES)):
        # a play makes words of all that lies there, of its own tiles, and of these once more across
        letters = min(lying + 2 * RACK, (RACK + 1) * SIZE)
        words = ["Q" * (letters // (RACK + 1) + 1)] * (RACK + 1)
        laid = {"type": "TILE_PLACEMENT_MOVE", "player_index": 1, "cumulative": 9999, "position": "15O", "row": 14}
        laid |= {"column": 14, "direction": "VERTICAL", "rack": "Q" * RACK, "played_tiles": "Q" * SIZE, "score": 9999}
        laid |= {"words_formed": words, "num_tiles_from_rack": RACK, "is_bingo": True}
        back = {"type": "PHONY_TILES_RETURNED", "player_index": 1, "cumulative": 9999, "position": "15O"}
        back |= {"rack": "Q" * RACK, "played_tiles": "Q" * SIZE, "lost_score": 9999}
        bonus = {"type": "CHALLENGE_BONUS", "player_index": 1, "cumulative": 9999, "bonus": 10}
        told += [*[laid, back] * (crossword.SCORELESS_TURNS - 1), laid, bonus]
    assert len(request_of({**state, "events": told}, "u" * 64, 10_000)) <= LEAST_PAYLOAD
