"""A Redis that is there and does not let us in: its operator is told what to put right."""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import pytest
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


def test_a_right_that_the_user_lacks_is_told(settings: Settings) -> None:
    """Many take the dangerous commands from a user; what needs one waits, as without Redis, and does not fail."""
    url = settings.redis_url.replace("unix://", "unix://restricted:secret@")
    with closing(connect(settings.redis_url)) as operator:
        operator.acl_setuser(
            "restricted", enabled=True, passwords=["+secret"], keys=["*"], channels=["*"], commands=["+@all", "-ping"]
        )
        try:
            assert _complaint(url) == (
                "Redis does not allow this: the user of REDIS_URL needs ~bb:* ~LIMITS:* &* +@all."
            )
        finally:
            operator.acl_deluser("restricted")


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


def test_one_that_is_away_is_told() -> None:
    """As before."""
    assert _complaint("redis://127.0.0.1:1") == "Redis does not answer now (ConnectionError)."
