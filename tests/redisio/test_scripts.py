"""Grouped script calls: one round trip for all that wait, each with its own answer."""

from __future__ import annotations

import subprocess
import sys

import pytest
import redis

from battlebot.config import Settings
from battlebot.redisio.scripts import GroupedScripts, Script
from battlebot.runtime.gate import Gate

GREENLETS = """
import sys
from gevent import monkey; monkey.patch_all()
import gevent
from battlebot.redisio.connection import connect
from battlebot.redisio.scripts import GroupedScripts, Script
from battlebot.runtime.gate import Gate

class Counting(GroupedScripts):
    sent = []
    def _send(self, batch):
        self.sent.append(len(batch))
        super()._send(batch)

client = connect(sys.argv[1])
scripts = Counting(client, Gate)
claim = Script("battlebot.arena.names", "claim.lua")
def call(i):
    for round in range(20):
        answer = scripts.run(claim, ["names", f"matches{i}"], [f"bot{i}", f"{i}.{round}"])
        assert answer == [f"{i}.{round - 1}".encode() if round else b""], answer
greenlets = [gevent.spawn(call, i) for i in range(50)]
gevent.joinall(greenlets, raise_error=True)
assert sum(scripts.sent) == 1000 and len(scripts.sent) < 500, scripts.sent
assert client.hgetall("names") == {f"bot{i}".encode(): f"{i}.19".encode() for i in range(50)}
print("good")
"""

THROWN_OUT = """
import sys
from gevent import monkey; monkey.patch_all()
import gevent
from gevent.lock import Semaphore
from battlebot.redisio.connection import connect
from battlebot.runtime.gate import Gate
from battlebot.redisio.transactions import TransactionConnection
from battlebot.redisio.scripts import GroupedScripts, Script
from battlebot.errors import Unavailable

class HeldConnection(TransactionConnection):
    may_send, entered = Semaphore(0), Semaphore(0)
    def answers(self, commands):
        self.entered.release()
        self.may_send.acquire()
        return super().answers(commands)

class Held(GroupedScripts):
    about_to_lead = None
    def _hand_over(self, answered):
        if self.about_to_lead is not None:
            gevent.get_hub().loop.run_callback(self.about_to_lead.throw)
            self.about_to_lead = None
        super()._hand_over(answered)

client = connect(sys.argv[1])
scripts = Held(client, Gate)
scripts._connection = connection = HeldConnection(client)
def call(name):
    try:
        return scripts.run(Script("battlebot.redisio", "mutexrelease.lua"), [name, "asked"], ["mine"])
    except Unavailable:
        return "unavailable"
first, second, third = [gevent.spawn(call, name) for name in "abc"]
connection.entered.acquire()
gevent.sleep(0)
if sys.argv[2] == "who waits":
    second.kill()
elif sys.argv[2] == "who is about to send":
    scripts.about_to_lead = second
connection.may_send.release()
assert connection.entered.acquire(timeout=10), "nobody sends what waits"
if sys.argv[2] == "who sends for others":
    second.kill()
for _ in range(9):
    connection.may_send.release()
assert first.get(timeout=10) == 0
assert third.get(timeout=10) == ("unavailable" if sys.argv[2] == "who sends for others" else 0)
assert gevent.spawn(call, "d").get(timeout=10) == 0
print("good")
"""


@pytest.mark.parametrize("who", ["who waits", "who is about to send", "who sends for others"])
def test_who_is_thrown_out_keeps_nobody_waiting(settings: Settings, who: str) -> None:
    """A greenlet that a time-out takes away, whatever it was doing: others' calls are answered, or fail."""
    command = [sys.executable, "-c", THROWN_OUT, settings.redis_url, who]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == "good\n", done.stderr


def test_calls_of_many_greenlets_share_round_trips_and_lose_nothing(settings: Settings) -> None:
    """50 greenlets, 20 calls each: every call is answered with its own answer, in far fewer than 1000 trips."""
    command = [sys.executable, "-c", GREENLETS, settings.redis_url]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "good\n", done.stderr


def test_a_script_that_a_restarted_redis_forgot_is_loaded_again(client: redis.Redis) -> None:
    """SCRIPT FLUSH is what a restart does to scripts."""
    scripts = GroupedScripts(client, Gate)
    script = Script("battlebot.redisio", "mutexrelease.lua")
    client.set("lock", "mine")
    client.script_flush()
    assert scripts.run(script, ["lock", "asked"], ["mine"]) == 0
    assert client.get("lock") is None
