"""`run` against a scripted server: login, kept sessions, lost connections, close codes, and how a run ends."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

import pytest
from scripted_server import PASS_HASH, SALT, Line, final, update

from battlebot.client import (
    BadCredentials,
    Bot,
    Credentials,
    LoginFailed,
    Refused,
    Result,
    Unreachable,
    register,
    run,
    run_tcp,
)
from battlebot.client.address import Address
from battlebot.client.backoff import Backoff
from battlebot.client.connection import Connection
from battlebot.client.errors import ConnectionLost
from battlebot.client.runner import wait_after
from battlebot.wire.closing import RESTARTING, SERVER_ERROR, TOO_MANY_CONNECTIONS, UNAVAILABLE, Closing

Play = Callable[..., list[Result]]


class Noted(Backoff):
    """Notes of each wait whether a match waited."""

    waits: list[bool] = []  # noqa: RUF012  # the runner makes its own

    def next_s(self, at_least_s: float = 0.0, in_match: bool = False) -> float:
        self.waits.append(in_match)
        return super().next_s(at_least_s, in_match)


def one_match(line: Line, **more: Any) -> None:
    """A login, one turn, and the end."""
    line.login()
    line.say(update(0, **more))
    line.hear()
    line.say(final(1, turn={"n": 1}, **more))


def test_login_proves_the_pass_hash_and_asks_for_a_kept_session(play: Play) -> None:
    """The scripted server checks the hash; the rest of the login is protocol 2's."""
    logins = []

    def script(line: Line) -> None:
        logins.append(line.login())
        line.close(1008, "contest-closed: no more")

    with pytest.raises(Refused, match="no more"):
        play(script, contest="cup")
    logins[0].pop("login_hash")
    assert logins == [{"game": "numberwang", "bot_id": "Me", "contest": "cup", "protocol": 2, "session": "keep"}]


def test_protocol_one_speaks_as_the_original_clients_do(play: Play) -> None:
    """Three keys in the login, no version in a turn, one match, and the results."""

    def script(line: Line) -> None:
        assert set(line.login()) == {"game", "bot_id", "login_hash"}
        line.say(update(0))
        assert line.hear() == {"n": 1}
        line.say(final(1))
        line.close()

    assert play(script, protocol=1) == [("m1", "Me", "complete")]


def test_a_server_without_match_ids_plays_one_match_per_connection(play: Play) -> None:
    """As the original one: no match is taken for one that is over."""

    def script(line: Line) -> None:
        line.login()
        begun, over = update(0), final(1)
        del begun["match"], over["match"]
        line.say(begun)
        assert line.hear() == {"n": 1}
        line.say(over)
        line.close()

    assert play(script, protocol=1) == [("", "Me", "complete")]


def test_a_kept_session_plays_on_and_the_last_match_has_its_own(play: Play, bot: Any) -> None:
    """Two matches over one connection; the third without `keep`, so that leaving abandons no fourth."""

    def first(line: Line) -> None:
        assert line.login()["session"] == "keep"
        for match in ("m1", "m2"):
            line.say(update(0, match=match))
            assert line.hear()["version"] == 0
            line.say(final(1, match=match, turn={"n": 1}))
        assert line.bot_closes() == 1000

    def second(line: Line) -> None:
        assert "session" not in line.login()
        line.say(final(7, None, match="m3"))
        line.close()

    assert play(first, second, matches=3) == [
        ("m1", "Me", "complete"),
        ("m2", "Me", "complete"),
        ("m3", None, "complete"),
    ]
    assert [row for row in bot.told if row[0] == "started"] == [("started", "m1"), ("started", "m2"), ("started", "m3")]


def test_in_a_contest_without_keep_each_match_has_a_connection(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a match it connects again at once, as the original does."""
    monkeypatch.setattr("battlebot.client.runner.Backoff", Noted)
    Noted.waits.clear()
    results = play(one_match, lambda line: one_match(line, match="m2"), contest="cup", keep=False, matches=2)
    assert [result.match for result in results] == ["m1", "m2"]
    assert Noted.waits == []


def test_who_is_cut_off_from_its_match_is_in_more_haste(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Than who waits for one, or has been told the end."""

    def begins(line: Line) -> None:
        line.login()
        line.say(update(0))
        assert line.hear()
        line.drop()

    def ends(line: Line) -> None:
        assert line.login()["resume"] == "m1"
        line.say(final(1, turn={"n": 1}))
        line.bot_closes()

    def waits(line: Line) -> None:
        line.login()
        line.drop()

    monkeypatch.setattr("battlebot.client.runner.Backoff", Noted)
    Noted.waits.clear()
    play(begins, waits, ends, waits, lambda line: one_match(line, match="m2"), matches=2)
    assert Noted.waits == [True, True, False]


def test_while_a_match_waits_no_node_is_waited_for_long(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy may have chosen one that hangs; the next attempt may reach another."""

    def begins(line: Line) -> None:
        line.login()
        line.say(update(0))
        assert line.hear()
        line.drop()

    waits_s = []

    class Noting(Connection):
        def __init__(self, address: Address, tls: ssl.SSLContext | None, open_timeout_s: float) -> None:
            waits_s.append(open_timeout_s)
            super().__init__(address, tls, open_timeout_s)

    monkeypatch.setattr("battlebot.client.runner.Connection", Noting)
    play(begins, lambda line: (line.login(), line.say(final(1, turn={"n": 1}))), matches=1)
    assert waits_s == [10.0, 2.0]


@pytest.mark.parametrize("reason", ["", "nobody-came: no opponent came"])
def test_a_single_match_that_nobody_comes_to_ends_the_run(play: Play, reason: str) -> None:
    """A normal close without `keep` or a contest: there is nothing to go on for."""

    def script(line: Line) -> None:
        line.login()
        line.close(1000, reason)

    assert play(script, keep=False) == []


def test_a_normal_close_of_a_kept_session_is_connected_again(play: Play) -> None:
    """A bot that waits on is what `keep` asks for."""

    def alone(line: Line) -> None:
        line.login()
        line.close(1000, "nobody-came: no opponent came")

    assert len(play(alone, one_match, matches=1)) == 1


def test_a_kept_session_that_breaks_after_a_match_is_connected_again(play: Play) -> None:
    """Without `matches` no match is its last."""

    def breaks(line: Line) -> None:
        line.login()
        line.say(final(1))
        line.drop()

    def goes_on(line: Line) -> None:
        line.login()
        line.say(final(1, match="m2"))
        line.bot_closes()

    assert [result[0] for result in play(breaks, goes_on, idle_timeout_s=1.0)] == ["m1", "m2"]


@pytest.mark.parametrize(
    ("closing", "at_least_s", "at_most_s"),
    [(RESTARTING, 0, 0), (UNAVAILABLE, 1, 2), (TOO_MANY_CONNECTIONS, 1, 2), (SERVER_ERROR, 0.05, 0.1)],
)
def test_the_slug_says_how_long_to_wait(closing: Closing, at_least_s: float, at_most_s: float) -> None:
    """A restart is over at once, "try later" takes a second or two, all else backs off from the beginning."""
    assert at_least_s <= wait_after(ConnectionLost(closing.status, closing.reason), Backoff()) <= at_most_s


@pytest.mark.parametrize("code", [1001, 1006, 1011, 1012, 1013])
def test_a_close_without_a_slug_backs_off_from_the_beginning(code: int) -> None:
    """A proxy closes like this."""
    assert 0.05 <= wait_after(ConnectionLost(code, ""), Backoff()) <= 0.1


@pytest.mark.parametrize("slug", ["rate", "slow-reader", "silent"])
def test_a_policy_that_a_new_connection_may_meet_is_tried_again(slug: str) -> None:
    """These say something of the connection, not of the bot."""
    assert wait_after(ConnectionLost(1008, f"{slug}: sorry"), Backoff()) < 1


@pytest.mark.parametrize(
    ("code", "reason", "kind", "slug"),
    [
        (1008, "login-failed: authentication failed", LoginFailed, "login-failed"),
        (1008, "taken-over: another connection", Refused, "taken-over"),
        (1008, "", Refused, ""),
        (1009, "too-big: a message is larger", Refused, "too-big"),
        (1007, "bad-message: no JSON", Refused, "bad-message"),
    ],
)
def test_final_close_codes_end_the_run_with_a_clear_error(
    play: Play, code: int, reason: str, kind: type[Refused], slug: str
) -> None:
    """The slug of the close frame's reason is the error's code."""

    def script(line: Line) -> None:
        line.login()
        line.close(code, reason)

    with pytest.raises(kind) as caught:
        play(script)
    assert type(caught.value) is kind
    assert caught.value.code == slug


@pytest.mark.parametrize("closing", [(1008, "login-failed: Wrong."), (1000, "")])
def test_a_failed_login_is_not_tried_again(play: Play, closing: tuple[int, str]) -> None:
    """The server's sentence reaches the author, however an original server closes then."""

    def script(line: Line) -> None:
        line.say({"salt": SALT})
        line.hear()
        line.say({"authentication": "failed", "code": "login-failed", "error": "Wrong."})
        line.close(*closing)

    with pytest.raises(LoginFailed, match="Wrong"):
        play(script)


def test_credentials_of_another_server_are_told(play: Play) -> None:
    """The author may have named the wrong one."""

    def script(line: Line) -> None:
        line.login()
        line.close(1008, "login-failed: Wrong.")

    with pytest.raises(
        LoginFailed, match=r"Wrong\.+ The bot was registered at elsewhere:3000, this is localhost:\d+\. \("
    ):
        play(script, credentials=Credentials("numberwang", "Me", PASS_HASH, "elsewhere:3000"))


def test_a_login_that_fails_for_now_is_tried_again(play: Play) -> None:
    """A server whose database is away says so with a code."""

    def away(line: Line) -> None:
        line.say({"salt": SALT})
        line.hear()
        line.say({"authentication": "failed", "code": "unavailable", "error": "The database is away."})
        line.close(1008, "unavailable: authentication failed")

    assert len(play(away, one_match, matches=1)) == 1


def test_a_restart_is_followed_at_once(play: Play) -> None:
    """The slug `restart`, then the match goes on."""

    def restarts(line: Line) -> None:
        line.login()
        line.close(1001, "restart: connect again")

    assert len(play(restarts, one_match, matches=1)) == 1


def test_an_idle_bot_leaves_after_its_time(play: Play) -> None:
    """`idle_timeout_s` ends the waiting with a goodbye."""

    def script(line: Line) -> None:
        line.login()
        assert line.bot_closes() == 1000

    assert play(script, idle_timeout_s=0.2) == []


def test_a_server_that_is_away_is_waited_for_no_longer_than_the_idle_time(bot: Bot, credentials: Any) -> None:
    """Nobody listens at port 1 of the loopback."""
    assert run(bot, "localhost:1", "numberwang", credentials=credentials, idle_timeout_s=0.4) == []


def test_a_silent_server_is_pinged_and_then_left(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that died without a word must not be waited on for ever."""
    monkeypatch.setattr("battlebot.client.player.QUIET_S", 0.5)
    unanswered: list[str] = []

    def dead(line: Line) -> None:
        line.login()
        # answers no ping any more
        line._websocket.ws.send = lambda event: unanswered.append(type(event).__name__) or b""
        line.bot_closes()

    def script(line: Line) -> None:
        one_match(line)

    assert len(play(dead, script, matches=1)) == 1
    assert unanswered[0] == "Pong"


def test_ctrl_c_closes_cleanly_and_returns_the_results(play: Play, bot: Any) -> None:
    """The interrupt strikes while the bot thinks about its second match."""

    def script(line: Line) -> None:
        one_match(line)
        line.say(update(0, match="m2"))
        assert line.bot_closes() == 1000

    def interrupted(state: dict[str, Any]) -> dict[str, Any]:
        if bot.match.id == "m2":
            raise KeyboardInterrupt
        return {"n": 1}

    bot.choose = interrupted
    assert play(script) == [("m1", "Me", "complete")]


def test_what_choose_raises_comes_out_of_run(play: Play, bot: Any, caplog: pytest.LogCaptureFixture) -> None:
    """An author wants the traceback; the connection is closed all the same."""

    def script(line: Line) -> None:
        line.login()
        line.say(update(0))
        assert line.bot_closes() == 1000

    def broken(state: dict[str, Any]) -> dict[str, Any]:
        return {"n": 1 // 0}

    bot.choose = broken
    with pytest.raises(ZeroDivisionError):
        play(script)
    assert "choose failed in match m1" in caplog.text


def test_an_address_without_a_server_of_ours_is_a_clear_error(serve: Any, bot: Bot, credentials: Any) -> None:
    """A web server that answers 404, and one whose first message is something else."""
    server = serve(lambda line: line.say({"hello": "world"}))
    with pytest.raises(Unreachable, match="no 'salt'"):
        run(bot, server.host, "numberwang", credentials=credentials)
    server.answers["GET", "/ws"] = ("404 Not Found", "")
    with pytest.raises(Unreachable, match="404"):
        run(bot, server.host, "numberwang", credentials=credentials)


@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway", None])
def test_a_proxy_that_reaches_no_server_for_a_while_is_asked_again(
    serve: Any, bot: Bot, credentials: Any, monkeypatch: pytest.MonkeyPatch, status: str | None
) -> None:
    """As nginx says while a node starts; or it hangs up (None)."""
    server = serve(one_match)
    server.answers["GET", "/ws"] = (status, "")

    class Recovers(Backoff):
        def next_s(self, *_: Any, **__: Any) -> float:
            server.answers.clear()
            return 0.0

    def hang_up(*_: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr("battlebot.client.runner.Backoff", Recovers)
    if status is None:
        monkeypatch.setattr(server, "_answer", hang_up)
    assert len(run(bot, server.host, "numberwang", credentials=credentials, matches=1)) == 1


def test_a_proxy_of_the_environment_does_not_come_between_us_and_the_loopback(
    serve: Any, bot: Bot, credentials: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is on another machine, whose loopback is another."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    server = serve(lambda line: line.say({"hello": "world"}))
    with pytest.raises(Unreachable, match="no 'salt'"):
        run(bot, server.host, "numberwang", credentials=credentials, idle_timeout_s=0.2)


def test_what_connecting_again_cannot_mend_ends_at_once(
    serve: Any, bot: Bot, credentials: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect, as from http to https, and a proxy of the environment whose port is no number."""
    server = serve()
    server.answers["GET", "/ws"] = ("301 Moved Permanently", "")
    with pytest.raises(Unreachable, match="redirects"):
        run(bot, server.host, "numberwang", credentials=credentials, idle_timeout_s=0.2)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:port")
    with pytest.raises(Unreachable, match="proxy"):
        run(bot, "http://bots.example.org", "numberwang", credentials=credentials, idle_timeout_s=0.2)


def test_credentials_of_another_game_are_refused_before_connecting(bot: Bot, credentials: Any) -> None:
    """A bot is registered for one game."""
    with pytest.raises(BadCredentials, match="numberwang"):
        run(bot, "localhost:1", "connectfour", credentials=credentials)


def move(state: dict[str, Any]) -> dict[str, Any]:
    """A function, as some write instead of a Bot."""
    return {"n": 1}


class Awaited(Bot):
    """A bot as some libraries want them."""

    async def choose(self, state: dict[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        """Would give a coroutine instead of a turn."""
        return {"n": 1}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (move, "subclass of Bot"),
        (dict, "subclass of Bot"),
        (type("Mine", (Bot,), {}), "Mine has no method choose"),
        (Bot(), "Bot has no method choose"),
        (Awaited, "Awaited.choose is async"),
    ],
)
def test_what_cannot_play_is_told_before_it_loses_a_match(given: Any, sentence: str, credentials: Credentials) -> None:
    """It is not connected anywhere."""
    with pytest.raises(TypeError, match=sentence):
        run(given, "localhost:1", credentials.game, credentials=credentials, idle_timeout_s=0.1)
    with pytest.raises(TypeError, match=sentence):
        run_tcp(given, "localhost:1", "me", idle_timeout_s=0.1)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"matches": "2"}, "matches must be a whole number or None, not str."),
        ({"matches": True}, "matches must be a whole number or None, not bool."),
        ({"idle_timeout_s": "3"}, "idle_timeout_s must be a number of seconds or None, not str."),
        ({"keep": "no"}, "keep must be True or False, not str."),
        ({"contest": 3}, "contest must be a text or None, not int."),
        ({"host": 3000}, "host must be a text, not int."),
        ({"tls": True}, "tls must be an ssl.SSLContext or None, not bool."),
        ({"credentials": None}, "credentials must be what `register` returned, or the auth file's path, not NoneType."),
    ],
)
def test_an_argument_of_another_type_is_named(wrong: dict[str, Any], sentence: str, credentials: Credentials) -> None:
    """Before anything is connected: here nobody would answer."""
    given = {"host": "localhost:1", "game": credentials.game, "credentials": credentials, "idle_timeout_s": 0.1}
    with pytest.raises(TypeError) as told:
        run(Never, **{**given, **wrong})  # type: ignore[arg-type]
    assert str(told.value) == sentence


def test_an_argument_of_another_type_is_named_also_at_the_tcp_door_and_at_the_registration() -> None:
    """Likewise."""
    with pytest.raises(TypeError, match=r"^boards must be a whole number or None, not str\.$"):
        run_tcp(Never, "localhost:1", "me", boards="2", idle_timeout_s=0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^host must be a text, not int\.$"):
        register(3000, "numberwang", "me")  # type: ignore[arg-type]


class Never(Bot):
    """Could play, but is not asked."""

    def choose(self, state: dict[str, Any]) -> dict[str, Any]:
        """No turn."""
        raise AssertionError
