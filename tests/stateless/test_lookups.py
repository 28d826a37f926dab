"""Lookups that nobody answers, in processes with greenlets of their own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from cluster import cluster
from httpbots import Bots

from battlebot.config import Settings

PROGRAM = """
from gevent import monkey
monkey.patch_all()
import os, socket, gevent
from battlebot.stateless.lookups import make_room_for_lookups
make_room_for_lookups()
lock = monkey.get_original("_thread", "allocate_lock")()
lock.acquire()
pool = gevent.get_hub().threadpool
def hang():
    lock.acquire()
    lock.release()
try:
    with gevent.Timeout(20):
        for _ in range(64):
            pool.spawn(hang)
        socket.getaddrinfo("localhost", 80)
finally:
    lock.release()
print(os.environ["RES_OPTIONS"])
"""

KILLING = """
from gevent import monkey
monkey.patch_all()
import random, socket, gevent, gevent.event
from battlebot.stateless.asking import Question
from battlebot.stateless.http import connections
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard
connections.UNRATED_LOOKUPS = 8
under_way, all_places = [], gevent.event.Event()
def resolve(host, *_, **__):
    under_way.append(host)
    if len(under_way) == 8 and host.startswith("last"):
        all_places.set()
    try:
        all_places.wait() if host.startswith("last") else gevent.sleep(random.uniform(0.001, 0.02))
    finally:
        under_way.remove(host)
    raise socket.gaierror(socket.EAI_NONAME, "unknown")
socket.getaddrinfo = resolve
by = HttpBots(Guard(), 65_536, 16)
def asked(name):
    question = Question(f"http://{name}.example/", "numberwang", "match", "bot", {}, 10.0, rated=False)
    return gevent.spawn(by.ask, question)
many = [asked(f"bot{number}") for number in range(4000)]
for one in many[::2]:
    gevent.spawn_later(random.uniform(0, 2), one.kill, block=False)
gevent.joinall(many)
with gevent.Timeout(20):
    gevent.joinall([asked(f"last{number}") for number in range(8)])
"""


def test_a_match_of_names_that_nobody_answers_for_keeps_no_other_waiting() -> None:
    """64 lookups hang; the next is answered."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "timeout:2 attempts:2"


def test_urls_whose_names_nobody_answers_for_keep_nobody_from_registering(
    settings: Settings, tmp_path: Path, bots: Bots
) -> None:
    """As many lookups hang in a web node as it makes at a time to test bots; the next is answered."""
    with cluster(replace(settings, bot_loopback=True), tmp_path) as parts:
        web = parts.web("tests.stateless.hanging_lookups_wsgi")
        url = bots.url("good", "localhost")
        status, answer = web.request("/bots/battlecube", {"bot_id": "asked", "url": url})
    assert status == 201, answer


def test_questions_that_are_ended_while_names_are_looked_up_leave_their_places() -> None:
    """As when a task has used up its time: else no unrated match would be asked for in the end."""
    done = subprocess.run([sys.executable, "-c", KILLING], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
