"""Ctrl-C in the terminal of a single node, which all its processes hear of."""

from __future__ import annotations

import os
import signal

import pytest
from cluster import LIMIT_S, Cluster, wait_for
from peer import Closed, Peer

from battlebot.embedded.process import Child


def test_a_web_node_sends_its_bots_to_another_one(parts: Cluster) -> None:
    """As at SIGTERM."""
    web = parts.web()
    bot = Peer(web.address)
    bot.log_in(web.register("ada"))
    os.killpg(web.child.pid, signal.SIGINT)
    with pytest.raises(Closed) as ended:
        bot.message()
    assert (ended.value.code, ended.value.slug) == (1001, "restart")
    _assert_ended(web.child)


def test_a_second_interrupt_ends_it_at_once(parts: Cluster) -> None:
    """Though a bot does not go, for which it would wait."""
    web = parts.web(close_timeout_s=30.0)
    bot = Peer(web.address)
    bot.log_in(web.register("ada"))
    os.killpg(web.child.pid, signal.SIGINT)
    wait_for(lambda: "node.drains" in parts.logs(), "the node to drain")
    os.killpg(web.child.pid, signal.SIGINT)
    _assert_ended(web.child, 15.0)
    bot.reset()


def _assert_ended(child: Child, limit_s: float = LIMIT_S) -> None:
    wait_for(lambda: not child.alive, "its end", limit_s)
    assert child.status() == "exit status 0"
