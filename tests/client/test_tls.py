"""Certificates are verified, by both doors, unless the author trusts another one on purpose."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from certificates import certificate, serving
from scripted_server import Line, ScriptedServer, final

from battlebot.client import Bot, Unreachable, register, run

Serve = Callable[..., ScriptedServer]


def test_a_certificate_that_nobody_vouches_for_is_refused(
    serve: Serve, tmp_path: Path, bot: Bot, credentials: Any
) -> None:
    """It is not retried either: it would not get better."""
    host = f"https://{serve(tls=serving(certificate(tmp_path, 'localhost'))).host}"
    with pytest.raises(Unreachable, match="not trusted"):
        run(bot, host, "numberwang", credentials=credentials)
    with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        register(host, "numberwang", "Me")


def test_a_certificate_for_another_name_is_refused(serve: Serve, tmp_path: Path, bot: Bot, credentials: Any) -> None:
    """Even where its issuer is trusted."""
    path = certificate(tmp_path, "example.org")
    tls = ssl.create_default_context(cafile=path)
    host = f"https://{serve(tls=serving(path)).host}"
    with pytest.raises(Unreachable, match="not trusted"):
        run(bot, host, "numberwang", credentials=credentials, tls=tls)


def test_an_author_may_trust_a_certificate(serve: Serve, tmp_path: Path, bot: Bot, credentials: Any) -> None:
    """With `tls`, for a server that has one of its own."""

    def script(line: Line) -> None:
        line.login()
        line.say(final(1))

    path = certificate(tmp_path, "localhost")
    host = f"wss://{serve(script, tls=serving(path)).host}"
    tls = ssl.create_default_context(cafile=path)
    assert len(run(bot, host, "numberwang", credentials=credentials, tls=tls, matches=1)) == 1


def test_a_server_without_tls_is_told_apart(serve: Serve, bot: Bot, credentials: Any) -> None:
    """The sentence names the way to plain text, which nobody gets by accident."""
    with pytest.raises(Unreachable, match="for plain text write ws://"):
        run(bot, f"https://{serve().host}", "numberwang", credentials=credentials)
