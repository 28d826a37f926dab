"""A bot's owner gives it another pass_hash at one node, while it is connected with the old one at another."""

from __future__ import annotations

import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from cluster import Cluster, Web, wait_for
from peer import Closed, Peer
from switchboard import Switchboard

from battlebot.client import Credentials, renew

KEEP = {"protocol": 2, "session": "keep"}


@pytest.fixture
def nodes(parts: Cluster) -> tuple[Web, Web]:
    """Two web nodes."""
    return parts.web(), parts.web()


def renewed(auth: dict[str, str], at: Web, folder: Path) -> dict[str, str]:
    """Returns the bot's credentials after it was given another pass_hash at this node."""
    path = folder / "auth.json"
    Credentials(auth["game"], auth["bot_id"], auth["pass_hash"], at.address).save(path)
    new = renew(path)
    assert Credentials.load(path) == new
    assert not path.with_name("auth.json.new").exists()
    return {**auth, "pass_hash": new.pass_hash}


def is_right(auth: dict[str, str], at: Web) -> bool:
    """Whether a node takes these for a bot's credentials."""
    request = urllib.request.Request(f"{at.url}/bots/{auth['game']}/{auth['bot_id']}")
    request.add_header("Authorization", f"Bearer {auth['pass_hash']}")
    try:
        urllib.request.urlopen(request, timeout=10).close()
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise
        return False
    return True


def end_of(peer: Peer) -> tuple[int | None, str]:
    """How its connection is closed."""
    end = peer.closed()
    return end.code, end.slug


def test_the_new_one_is_right_at_once_and_the_old_one_soon_nowhere(nodes: tuple[Web, Web], tmp_path: Path) -> None:
    """Also at a node that has let the bot in before, and remembers it; who waits with the old one is closed."""
    here, there = nodes
    meet = Switchboard(here)
    old = meet.auth()
    waiting = [meet.login(old, web=web, login=KEEP) for web in nodes]
    new = renewed(old, here, tmp_path)
    spare = meet.login(new, web=there, login=KEEP)
    assert not is_right(old, here)
    wait_for(lambda: not is_right(old, there), "the old one to be wrong at the other node")
    for peer in waiting:
        assert end_of(peer) == (1008, "login-failed")
    assert is_right(new, here)
    assert is_right(new, there)
    assert Peer(there.address).log_in(old)["authentication"] == "failed"
    other = meet.login(meet.auth(), login=KEEP)
    assert spare.update()["match"]["id"] == other.update()["match"]["id"]


def test_a_running_match_goes_on_to_its_end(nodes: tuple[Web, Web], tmp_path: Path) -> None:
    """Then its kept session is over, for that bot alone."""
    here, there = nodes
    meet = Switchboard(there)
    mover, other = meet.sit(login=KEEP)
    new = renewed(mover.auth, here, tmp_path)
    while is_right(mover.auth, there):
        for peer in (mover, other):
            peer.send({"n": 0})
            assert mover.update()["match"]["version"] == other.update()["match"]["version"]
    mover.send({"n": 10})
    for peer in (mover, other):
        assert peer.update()["state"]["victor"] == mover.bot
    assert end_of(mover) == (1008, "login-failed")
    back = meet.login(new, login=KEEP)
    assert back.update()["match"]["id"] == other.update()["match"]["id"]


def test_matches_that_go_on_with_the_old_one_keep_nobody_out(parts: Cluster, tmp_path: Path) -> None:
    """Else whoever knows it could have so many at once that its owner is told `too-many-connections`."""
    web = parts.web(max_connections_per_bot=2, turn_timeout_ms=60_000)
    meet = Switchboard(web)
    old = meet.auth()
    for _ in range(2):
        meet.seated(meet.login(old), meet.login(meet.auth()))
    assert end_of(meet.login(old)) == (1008, "too-many-connections")
    new = renewed(old, web, tmp_path)
    other = meet.login(meet.auth())

    def plays() -> bool:
        with suppress(Closed):
            return bool(meet.login(new).update()["match"])
        return False

    wait_for(plays, "its owner to be let in")
    assert other.update()["match"]
