"""A Redis that is there and does not let us in: its operator is told what to put right."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import pytest
import redis
from certificates import certificate, serving

from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio.connection import connect, redis_errors


def _complaint(url: str) -> str:
    with closing(connect(url)) as client, pytest.raises(Unavailable) as told, redis_errors():
        client.ping()
    return str(told.value)


def test_a_wrong_password_is_told(settings: Settings) -> None:
    """And not repeated."""
    url = settings.redis_url.replace("unix://", "unix://nobody:wrong@")
    assert _complaint(url) == "Redis refuses the user or the password of REDIS_URL."


def test_a_user_who_may_not_do_everything_is_told(client: redis.Redis, settings: Settings) -> None:
    """As of a Redis that is away: else each match would be set aside as one that cannot be looked after."""
    client.acl_setuser("reader", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@all", "-set"])
    url = settings.redis_url.replace("unix://", "unix://reader:pw@")
    commands: list[Callable[[redis.Redis], object]] = [
        lambda limited: limited.set("a", 1),
        lambda limited: limited.pipeline().set("a", 1).execute(),
        lambda limited: limited.eval("return redis.call('SET', 'a', 1)", 0),
    ]
    try:
        with closing(connect(url)) as limited:
            for command in commands:
                with pytest.raises(Unavailable, match="the user of REDIS_URL needs ~bb"), redis_errors():
                    command(limited)
    finally:
        client.acl_deluser("reader")


def test_an_older_redis_says_it_in_other_words() -> None:
    """Redis 7.0, as in Debian 12, of a command within a script."""
    with pytest.raises(Unavailable, match="the user of REDIS_URL needs ~bb"), redis_errors():
        raise redis.ResponseError("The user executing the script can't run this command or subcommand script: 920a07f")


def test_a_database_that_redis_does_not_have_is_told(settings: Settings) -> None:
    """The operator has to put its number right."""
    url = f"{settings.redis_url.partition('?')[0]}?db=9999"
    assert _complaint(url) == "Redis has no database of the number that REDIS_URL names."


def test_a_certificate_that_nobody_vouches_for_is_told(tmp_path: Path) -> None:
    """Redis is not away then, and waiting does not help."""
    context = serving(certificate(tmp_path, "localhost"))

    def serve() -> None:
        with suppress(OSError):
            context.wrap_socket(listener.accept()[0], server_side=True)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Thread(target=serve)
        server.start()
        told = _complaint(f"rediss://localhost:{listener.getsockname()[1]}")
        server.join()
    assert told == "The certificate of Redis cannot be verified: self-signed certificate."


def test_what_is_no_redis_is_told() -> None:
    """Another server's port, say, or that of a proxy."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with listener.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        server = Thread(target=answer)
        server.start()
        assert _complaint(f"redis://127.0.0.1:{listener.getsockname()[1]}") == "What answers at REDIS_URL is no Redis."
        server.join()


def test_one_that_is_away_is_told() -> None:
    """With what the system says: another host or port to be named is not the same as a server to be started."""
    assert _complaint("redis://127.0.0.1:1") == "Redis does not answer now (Connection refused)."


def test_one_that_speaks_no_tls_is_told() -> None:
    """What comes first is no answer to a TLS hello."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with listener.accept()[0] as connection:
                connection.sendall(b"-ERR Protocol error\r\n")
                connection.recv(1)

        server = Thread(target=answer)
        server.start()
        told = _complaint(f"rediss://127.0.0.1:{listener.getsockname()[1]}")
        server.join()
    assert told == "Redis does not answer now (TLS: wrong version number)."
