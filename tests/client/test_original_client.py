"""The stand-in for the original client must be as strict as the original was: these are its own tests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from original_client import LoginRejected, OriginalClient, ProtocolViolation
from scripted_server import PASS_HASH, SALT, Line, ScriptedServer, final, update

AUTH = {"game": "numberwang", "bot_id": "Me", "pass_hash": PASS_HASH, "hostname": "localhost"}
Serve = Callable[..., ScriptedServer]


def client(server: ScriptedServer, **options: Any) -> OriginalClient:
    """An original client that always answers with 3."""
    return OriginalClient(f"ws://{server.host}/", AUTH, lambda state: {"n": 3}, limit_s=10, **options)


def test_it_plays_one_match_and_records_it(serve: Serve) -> None:
    """Answers only when it is next, stops at the end, notes the close frame."""

    def script(line: Line) -> None:
        assert set(line.login()) == {"game", "bot_id", "login_hash"}
        line.say(update(0, "You"))
        line.hears_nothing(0.1)
        line.say(update(1))
        assert line.hear() == {"n": 3}
        line.say(final(2, None))
        line.close(1000, "bye")

    original = client(serve(script))
    state = original.play_once()
    assert state is not None
    assert (state["complete"], state["victor"]) == (True, None)
    record = original.connections[0]
    assert (record.close_code, record.close_reason) == (1000, "bye")
    assert record.sent[1:] == [{"n": 3}]
    assert len(record.received) == 5


@pytest.mark.parametrize(
    "message", [{"notice": "Hello.", "code": "hello"}, {"state": {"complete": True}}, {"error": "No.", "code": "no"}]
)
def test_what_would_have_killed_the_original_is_loud(serve: Serve, message: dict[str, Any]) -> None:
    """A message without a state, an end without a victor."""

    def script(line: Line) -> None:
        line.login()
        line.say(message)
        line.bot_closes()

    original = client(serve(script))
    with pytest.raises(ProtocolViolation):
        original.play_forever(threading.Event())
    assert isinstance(original.errors[0], ProtocolViolation)


@pytest.mark.parametrize("ending", [lambda line: line.say(""), lambda line: line.close(1011, "later"), Line.drop])
def test_an_empty_frame_or_a_close_ends_it(serve: Serve, ending: Callable[[Line], None]) -> None:
    """Without a result."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0, "You"))
        ending(line)

    assert client(serve(script)).play_once() is None


@pytest.mark.parametrize("code", [1012, 1013, 1014, 4000])
def test_a_close_code_of_a_later_time_is_loud(serve: Serve, code: int) -> None:
    """The original's library raised an error for it, which killed the client."""

    def script(line: Line) -> None:
        line.login()
        line.close(code, "restart: connect again")

    with pytest.raises(ProtocolViolation):
        client(serve(script)).play_once()


def test_a_failed_login_raises(serve: Serve) -> None:
    """The original requires "OK", in capitals."""

    def script(line: Line) -> None:
        line.say({"salt": SALT})
        line.hear()
        line.say({"authentication": "failed"})

    with pytest.raises(LoginRejected):
        client(serve(script)).play_once()


def test_in_a_contest_it_connects_again_for_ever(serve: Serve) -> None:
    """One match a connection, until it is stopped."""
    stop = threading.Event()

    def script(line: Line) -> None:
        assert line.login()["contest"] == "cup"
        line.say(final(1))
        line.close()

    def last(line: Line) -> None:
        line.login()
        stop.set()
        line.bot_closes()

    original = client(serve(script, script, last), contest="cup")
    original.play_forever(stop)
    assert len(original.finished) == 2
    assert original.errors == []
