"""A full disk: what is new is refused with a code, nothing that was acknowledged is lost, and then it goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cluster import Web, free_port, wait_for
from frail import play_out
from peer import Peer

from battlebot.config import Settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.server import running
from battlebot.embedded.stores import Stores
from battlebot.errors import EmbeddedError

SIZE_MB = 640  # mongod takes 270 of them at its start


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Server(Web):
    """A whole server, asked as a web node is."""

    def __init__(self, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self.url = f"http://{self.address}"


def fill(folder: Path, leave_bytes: int = 0) -> None:
    """Leaves no more than that free."""
    found = os.statvfs(folder)
    left = found.f_bavail * found.f_frsize - leave_bytes if leave_bytes else 1 << 40
    with suppress(OSError), (folder / "filling").open("ab", buffering=0) as stream:
        while left > 0:
            left -= stream.write(b"x" * min(left, 1_000_000))


def test_a_full_disk_costs_nothing_that_was_acknowledged(small_disk: Path) -> None:
    """Valkey ends itself rather than forget a write; it is started again when there is room, and play goes on."""
    settings = Settings(
        data=small_disk / "data", port=free_port(), tcp_port=0, log_format="json", turn_timeout_ms=60_000
    )
    with running(settings, logs_in_files=True) as whole:
        server = Server(settings.port)
        server.wait_until_ready()
        mover, other = _sit(server)
        mover.send({"n": 1})
        assert mover.update()["state"] == other.update()["state"]
        fill(small_disk, leave_bytes=100_000_000)
        registered = {mover.bot, other.bot}
        wait_for(lambda: _refusal(server, registered).get("code") == "disk-full", "registrations to be refused")
        fill(small_disk)
        other.send({"n": 2})
        wait_for(lambda: not whole.child("valkey").alive, "Valkey to find no room")
        wait_for(lambda: "redis" in server.request("/readyz")[1]["since"], "the node to notice")
        assert server.request("/healthz")[0] == 200
        # mongod ends itself, too, when its next checkpoint finds no room: each minute, so not before on a fast machine
        wait_for(lambda: _refusal(server, registered)["code"] == "disk-full" or not whole.child("mongod").alive)
        (small_disk / "filling").unlink()
        for peer in (mover, other):
            assert peer.update()["state"]["board"] == {"n": 3}
        final = play_out(mover, other)
        server.wait_until_ready()
        recorded = wait_for(lambda: server.request("/games/numberwang")[1], "the match in the record")
        assert [(row["victor"], row["match"]["fault"]) for row in recorded] == [(final["victor"], "none")]
        assert {row["bot_id"] for row in server.request("/bots/numberwang")[1]} == registered


def test_a_start_on_a_full_disk_is_one_clear_line(small_disk: Path) -> None:
    """At the first start, when the key is to be made, and when the stores end themselves: their logs are empty then."""
    settings = Settings(data=small_disk / "data")
    fill(small_disk)
    with pytest.raises(EmbeddedError, match=r"data folder .+ cannot be written: No space left"):
        Stores(settings)
    (small_disk / "filling").unlink()
    folder = DataFolder(settings.data)
    fill(small_disk)
    with pytest.raises(EmbeddedError, match=r"secret key .+ cannot be read or written: No space left"):
        folder.secret_key()
    (small_disk / "filling").unlink()
    folder.secret_key()
    folder.close()
    fill(small_disk)
    with pytest.raises(EmbeddedError, match=r"ended at its start .+; less than 128 MB are free on its disk"):
        Stores(settings)


def _sit(server: Server) -> tuple[Peer, Peer]:
    peers, first = [], {}
    for name in ("ada", "bob"):
        peer = Peer(server.address)
        assert peer.log_in(server.register(name, "numberwang"))["authentication"] == "OK"
        peers.append(peer)
    for peer in peers:
        first = peer.update()
    one, two = peers
    return (one, two) if first["state"]["nextPlayer"] == one.bot else (two, one)


def _refusal(server: Server, registered: set[str]) -> dict[str, Any]:
    """The answer to a registration, where it was refused; otherwise the bot is one more of the registered."""
    bot = f"late-{os.urandom(4).hex()}"
    status, answer = server.request("/bots/numberwang", {"bot_id": bot})
    if status == 503:
        return dict(answer)
    registered.add(bot)
    return {}
