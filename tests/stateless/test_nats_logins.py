"""The server's user and password at real nats-servers: whatever they consist of, and at each server of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster import free_port, wait_for
from natsbots import NatsBot, nats_server, wait_until_listening

from battlebot.stateless.nats.line import NatsLine, NoLine, Silence

USERS = """
authorization {{
  users = [ {{ user: battlebot, password: "{password}" }}, {{ user: bot, password: bots }} ]
}}
"""
CLUSTER = """
server_name: {name}
cluster {{ name: both, listen: "127.0.0.1:{own}", routes: ["nats://127.0.0.1:{other}"] }}
"""

WRITTEN = {
    "plain": ("pa.ss", "pa.ss"),
    "encoded": ("p@/#%41ä", "p%40%2f%23%2541%C3%A4"),
    "as it is": ("p@/#?:%ä", "p@/#?:%ä"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_password_may_be_anything(name: str, tmp_path: Path) -> None:
    """Percent-encoded, or as it is where that is unmistakable."""
    password, written = WRITTEN[name]
    rules = tmp_path / "nats.conf"
    rules.write_text(USERS.format(password=password))
    port = free_port()
    with nats_server(port, "-c", str(rules)):
        wait_until_listening(f"nats://bot:bots@127.0.0.1:{port}")
        line = NatsLine(f"nats://battlebot:{written}@127.0.0.1:{port}")
        bot = NatsBot(f"nats://bot:bots@127.0.0.1:{port}", "any")
        line.ask("any", "m1", b"", 10.0)
        bot.close()
        line.close()


def test_a_token_may_be_anything(tmp_path: Path) -> None:
    """As a password."""
    rules = tmp_path / "nats.conf"
    rules.write_text('authorization { token: "t@/k" }')
    port = free_port()
    with nats_server(port, "-c", str(rules)):
        line = NatsLine(f"nats://t%40%2Fk@127.0.0.1:{port}")
        with pytest.raises(Silence, match="Nobody listens"):
            line.ask("any", "m1", b"", 0.2)
        line.close()


def test_a_password_is_not_sent_in_plain_text_where_tls_is_asked_for(tmp_path: Path) -> None:
    """The one that would be accepted."""
    rules = tmp_path / "nats.conf"
    rules.write_text(USERS.format(password="pa.ss"))
    port = free_port()
    with nats_server(port, "-c", str(rules)):
        wait_until_listening(f"nats://bot:bots@127.0.0.1:{port}")
        line = NatsLine(f"tls://battlebot:pa.ss@127.0.0.1:{port}")
        with pytest.raises(NoLine, match="NATS_URL asks for TLS, and NATS has none"):
            line.ask("any", "m1", b"", 10.0)
        line.close()


def test_another_server_of_the_cluster_has_the_same_users(tmp_path: Path) -> None:
    """Where the one that NATS_URL names is gone, the server connects as the same user to one that it has learned of."""
    ports, routes = (free_port(), free_port()), (free_port(), free_port())
    rules = [tmp_path / "first.conf", tmp_path / "second.conf"]
    for number, file in enumerate(rules):
        cluster = CLUSTER.format(name=file.stem, own=routes[number], other=routes[1 - number])
        file.write_text(USERS.format(password="pa.ss") + cluster)
    urls = [f"nats://bot:bots@127.0.0.1:{port}" for port in ports]
    line = NatsLine(f"nats://battlebot:pa.ss@127.0.0.1:{ports[0]}")

    def answered() -> bool:
        try:
            line.ask("any", "m1", b"", 5.0)
        except (NoLine, Silence):
            return False
        return True

    with nats_server(ports[1], "-c", str(rules[1])):
        wait_until_listening(urls[1])
        bot = NatsBot(urls[1], "any")
        with nats_server(ports[0], "-c", str(rules[0])):
            wait_until_listening(urls[0])
            # what is asked at the first server reaches a bot at the second one: they know each other
            wait_for(answered, "an answer over the first server")
        wait_for(answered, "an answer over the second server")
        bot.close()
    line.close()
