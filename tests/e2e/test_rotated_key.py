"""A node that does not know the key under which a bot was registered, as in a rotation in the wrong order."""

from __future__ import annotations

import secrets

import pytest
from cluster import Cluster
from peer import Closed, Peer, login_for, new_name


def test_a_bot_registered_under_a_key_that_the_node_does_not_know_is_sent_away_to_come_back(parts: Cluster) -> None:
    """It is not told that its login failed, at which bots stop for good; the node that knows the key lets it in."""
    knows = parts.web()
    other = parts.web(secret_key=secrets.token_hex(16))
    auth = knows.register(new_name(), "numberwang")
    kept_out = Peer(other.address)
    kept_out.send(login_for(auth, kept_out.message()["salt"]))
    with pytest.raises(Closed) as closed:
        kept_out.message()
    assert (closed.value.code, closed.value.slug) == (1011, "unavailable")
    let_in = Peer(knows.address)
    assert let_in.log_in(auth)["authentication"] == "OK"
    assert "credentials.unreadable" in parts.logs()
