"""`renew` as it is called twice at one moment, or ends in between: server and auth file agree in the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from battlebot.client import BadAddress, Credentials, Refused, credentials, renew

OLD = "ab" * 32
Change = Callable[..., None]


class Server:
    """What a server makes of the changes; `meanwhile` is called before the first one."""

    def __init__(self) -> None:
        self.pass_hash = OLD
        self.meanwhile: Callable[[], object] = lambda: None

    def __call__(self, old: Credentials, new: Credentials, *_: object) -> None:
        """Like `_change`."""
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        if old.pass_hash != self.pass_hash:
            raise Refused("login-failed", "Not right.")
        self.pass_hash = new.pass_hash


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """Returns one that knows the bot."""
    server = Server()
    monkeypatch.setattr(credentials, "_change", server)
    return server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Returns the bot's auth file."""
    path = tmp_path / "auth.json"
    Credentials("numberwang", "Me", OLD, "localhost").save(path)
    return path


def test_two_calls_at_one_moment_make_one_change(server: Server, path: Path) -> None:
    """Both say what is right."""
    server.meanwhile = lambda: renew(path)
    assert renew(path).pass_hash == Credentials.load(path).pass_hash == server.pass_hash != OLD


def test_what_the_server_took_is_kept_whatever_another_call_put_beside_the_file(server: Server, path: Path) -> None:
    """Both may have found nothing there."""
    other = Credentials("numberwang", "Me", "cd" * 32, "localhost")
    server.meanwhile = lambda: other.save(f"{path}.new")
    assert renew(path).pass_hash == Credentials.load(path).pass_hash == server.pass_hash


def test_the_next_call_changes_it_again(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if one was ended before it had tidied up."""
    with monkeypatch.context() as ended:
        ended.setattr(Path, "unlink", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            renew(path)
    first = server.pass_hash
    assert Credentials.load(path).pass_hash == first
    assert renew(path).pass_hash == Credentials.load(path).pass_hash == server.pass_hash != first
    assert [found.name for found in path.parent.iterdir()] == ["auth.json"]


def test_a_link_to_the_file_stays_one(server: Server, path: Path, tmp_path: Path) -> None:
    """Whoever reads the file itself has the new one, too."""
    link = tmp_path / "link.json"
    link.symlink_to(path)
    renew(link)
    assert link.is_symlink()
    assert Credentials.load(path).pass_hash == server.pass_hash


def test_without_an_address_nothing_is_left_beside_the_file(server: Server, path: Path) -> None:
    """The original client's file may name none."""
    Credentials("numberwang", "Me", OLD).save(path)
    with pytest.raises(BadAddress):
        renew(path)
    assert [found.name for found in path.parent.iterdir()] == ["auth.json"]
