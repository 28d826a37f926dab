"""The WebSocket under the socket.io servers, in this process, over a real socket."""

from __future__ import annotations

import struct
import time
from types import SimpleNamespace

import gevent
import pytest
from engineio.socket import Socket as NewSession
from flask import Flask
from pairs import LIMIT_S, Pair, connected, read_all, settle, upgrade

from battlebot.config import load_settings
from battlebot.transports import socketio as door_module
from battlebot.transports import socketio_servers
from battlebot.transports.connection import Gone
from battlebot.transports.socketio import SocketIoDoor
from battlebot.transports.socketio_engines import MOST_PONGS, MOST_UNREAD_BY_WEBSOCKET
from battlebot.transports.socketio_servers import EngineSocket
from battlebot.transports.wsconnection import WebSocket
from battlebot.wire import closing
from socketio2.engineio import packet
from socketio2.engineio.socket import Socket as OldSession

TEXTS = 300  # more than an outbox holds
TEXT = "x" * 2000
# one that began by WebSocket, and for which nothing waits
SESSION = SimpleNamespace(connected=False, closed=False, queue=SimpleNamespace(queue=()))
SESSIONS = {socketio_servers.OLD: OldSession, socketio_servers.NEW: NewSession}
PING, PONG = b"\x89\x00", b"\x8a\x80" + bytes(4)
NOTHING, PROBE = b"", b"\x81\x86" + bytes(4) + b"2probe"


def test_a_viewer_that_reads_slowly_is_sent_everything_later(pair: Pair) -> None:
    """Its events wait with its session, which adds no more; the connection stands."""
    ours, peer = pair
    settings = load_settings({}, None, send_timeout_s=LIMIT_S)
    assert settings.outbox_messages < TEXTS
    sent = 0

    def tell(engine: EngineSocket) -> None:
        nonlocal sent
        for _ in range(TEXTS):
            engine.send(TEXT)
            sent += 1

    conversation = gevent.spawn(EngineSocket(settings, tell, SESSION), upgrade(ours), lambda *_: None)
    settle(lambda: sent > 0)
    for _ in range(100):
        gevent.idle()
    assert sent < settings.outbox_messages, "it does not wait for a peer that reads nothing"
    read = b""

    def all_read() -> bool:
        nonlocal read
        read += read_all(peer)
        return read.count(TEXT.encode()) == TEXTS

    settle(all_read)
    assert sent == TEXTS
    peer.close()
    conversation.join(LIMIT_S)


def test_what_is_sent_on_a_connection_that_is_closing_fails_at_once(pair: Pair) -> None:
    """Its session ends, rather than wait for as long as a slow peer may take."""
    ours, peer = pair
    took_s: list[float] = []

    def tell(engine: EngineSocket) -> None:
        engine._ws.close(closing.RESTARTING)
        before_s = time.monotonic()
        with pytest.raises(OSError, match="over"):
            engine.send(TEXT)
        took_s.append(time.monotonic() - before_s)

    settings = load_settings({}, None, send_timeout_s=2 * LIMIT_S, close_timeout_s=0.1)
    conversation = gevent.spawn(EngineSocket(settings, tell, SESSION), upgrade(ours), lambda *_: None)
    conversation.join(3 * LIMIT_S)
    assert took_s
    assert took_s[0] < LIMIT_S
    peer.close()


def test_the_goodbye_of_a_session_ends_its_connection(pair: Pair) -> None:
    """Clients wait for that; a session that goes on to read would wait for them."""
    ours, peer = pair
    got: list[str | None] = []

    def leave(engine: EngineSocket) -> None:
        engine.send(TEXT)
        engine.send("1")
        got.append(engine.wait())

    conversation = gevent.spawn(EngineSocket(load_settings({}, None), leave, SESSION), upgrade(ours), lambda *_: None)
    settle(lambda: got == [None])
    read = b""

    def closed() -> bool:
        nonlocal read
        read += read_all(peer)
        return read.endswith(TEXT.encode() + b"\x81\x011" + b"\x88\x02" + struct.pack(">H", 1000))

    settle(closed)
    peer.close()
    conversation.join(LIMIT_S)


def test_a_message_may_be_as_long_as_by_polling(pair: Pair) -> None:
    """Which the handshake announces; a longer one is refused with a code."""
    ours, peer = pair
    settings = load_settings({}, None, max_message_bytes=300, max_body_bytes=2000, close_timeout_s=0.1)
    got: list[str | None] = []

    def hear(engine: EngineSocket) -> None:
        while got[-1:] != [None]:
            got.append(engine.wait())

    conversation = gevent.spawn(EngineSocket(settings, hear, SESSION), upgrade(ours), lambda *_: None)
    for text in (TEXT, TEXT + "x"):
        peer.sendall(b"\x81\xfe" + struct.pack(">H", len(text)) + bytes(4) + text.encode())
        settle(lambda: got != [])
    read = b""

    def refused() -> bool:
        nonlocal read
        read += read_all(peer)
        return struct.pack(">H", closing.TOO_BIG.status) + closing.TOO_BIG.reason.encode() in read

    settle(refused)
    conversation.join(LIMIT_S)
    assert got == [TEXT, None]
    peer.close()


def test_each_message_is_taken_in_its_turn(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages take long to decode one: of a hundred viewers at one moment, they held up all bots for seconds."""
    ours, peer = pair
    done: list[str | None] = []
    monkeypatch.setattr(socketio_servers, "in_turn", lambda: done.append("turn"))

    def hear(engine: EngineSocket) -> None:
        for _ in range(2):
            done.append(engine.wait())

    conversation = gevent.spawn(EngineSocket(load_settings({}, None), hear, SESSION), upgrade(ours), lambda *_: None)
    # both in one piece: to read the second, it does not wait
    peer.sendall(2 * (b"\x81\xfe" + struct.pack(">H", len(TEXT)) + bytes(4) + TEXT.encode()))
    settle(lambda: len(done) == 4)
    assert done == ["turn", TEXT] * 2
    peer.close()
    conversation.join(LIMIT_S)


@pytest.mark.parametrize(("kind", "most"), [(packet.PONG, MOST_PONGS), (packet.MESSAGE, MOST_UNREAD_BY_WEBSOCKET)])
def test_who_talks_on_and_reads_nothing_is_ended(pair: Pair, kind: int, most: int) -> None:
    """The answers that wait repeat what it has said: a hundred pings a second would all be kept."""
    ours, peer = pair
    settings = load_settings({}, None, close_timeout_s=0.1)
    engine = SocketIoDoor(settings, None, lambda _: True).servers[socketio_servers.OLD].eio  # type: ignore[arg-type]
    session = OldSession(engine, "a")
    for _ in range(most):
        session.queue.put(packet.Packet(kind, TEXT))
    got: list[str | None] = []

    def hear(heard: EngineSocket) -> None:
        while got[-1:] != [None]:
            got.append(heard.wait())

    conversation = gevent.spawn(EngineSocket(settings, hear, session), upgrade(ours), lambda *_: None)
    peer.sendall(b"\x81\x81" + bytes(4) + b"2")
    settle(lambda: got == ["2"])
    session.queue.put(packet.Packet(kind, TEXT))
    peer.sendall(b"\x81\x81" + bytes(4) + b"2")
    conversation.join(LIMIT_S)
    assert got == ["2", None]
    assert read_all(peer).endswith(closing.SLOW_READER.reason.encode())
    peer.close()


@pytest.mark.parametrize("said", [NOTHING, PROBE])
@pytest.mark.parametrize("generation", [socketio_servers.OLD, socketio_servers.NEW])
def test_who_does_not_finish_an_upgrade_is_closed_and_its_session_polls_on(
    pair: Pair, generation: str, said: bytes
) -> None:
    """It may answer all pings: the connection would outlive its session."""
    ours, peer = pair
    settings = load_settings({}, None, login_timeout_s=0.2, close_timeout_s=0.1)
    engine = SocketIoDoor(settings, None, lambda _: True).servers[generation].eio  # type: ignore[arg-type]
    session = SESSIONS[generation](engine, "a")
    session.connected = True
    conversation = gevent.spawn(
        EngineSocket(settings, session._websocket_handler, session), upgrade(ours), lambda *_: None
    )
    peer.sendall(said)
    conversation.join(LIMIT_S)
    assert conversation.dead
    assert (session.upgrading, session.upgraded, session.closed) == (False, False, False)
    assert read_all(peer).endswith(b"\x88\x02" + struct.pack(">H", 1000))
    peer.close()


def test_the_connection_of_a_session_that_is_over_is_closed(pair: Pair) -> None:
    """It may answer all pings. The session is over by a request, or by another connection that upgraded it."""
    ours, peer = pair
    session = SimpleNamespace(connected=False, closed=False)
    settings = load_settings({}, None, ping_interval_s=0.5, close_timeout_s=0.1)
    got: list[str | None] = []

    def hear(engine: EngineSocket) -> None:
        got.append(engine.wait())

    conversation = gevent.spawn(EngineSocket(settings, hear, session), upgrade(ours), lambda *_: None)
    pings = 0

    def answered() -> int:
        nonlocal pings
        if came := read_all(peer).count(PING):
            pings += came
            peer.sendall(came * PONG)
        return pings

    settle(lambda: answered() >= 2)
    assert not got, "it stays as long as its session"
    session.closed = True
    settle(lambda: answered() > 0 and got == [None])
    peer.close()
    conversation.join(LIMIT_S)


def test_a_silent_viewer_is_pinged_as_often_as_a_bot(pair: Pair) -> None:
    """Proxies are set by the pause between two pings."""
    settings = load_settings({}, None, ping_interval_s=0.5, close_timeout_s=0.1)

    def listen(ours: gevent.socket.socket) -> None:
        bot = WebSocket(upgrade(ours), settings, "there")
        with pytest.raises(Gone):
            bot.receive(None)
        bot.finish()

    with connected() as (others, other):
        both = [
            gevent.spawn(EngineSocket(settings, EngineSocket.wait, SESSION), upgrade(pair[0]), lambda *_: None),
            gevent.spawn(listen, others),
        ]
        viewers, bots = 0, 0

        def six_of_the_bot() -> bool:
            nonlocal viewers, bots
            came = [read_all(peer).count(PING) for peer in (pair[1], other)]
            for peer, number in zip((pair[1], other), came, strict=True):
                peer.sendall(number * PONG)
            viewers, bots = viewers + came[0], bots + came[1]
            return bots >= 6

        settle(six_of_the_bot)
        pair[1].close()
        other.close()
        gevent.joinall(both, LIMIT_S)
    assert viewers > bots / 2 + 1


@pytest.mark.parametrize("generation", [socketio_servers.OLD, socketio_servers.NEW])
def test_what_is_said_by_polling_is_taken_in_its_turn(generation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is looked at."""
    taken: list[bytes] = []
    monkeypatch.setattr(door_module, "in_turn_if_large", taken.append)
    door = SocketIoDoor(load_settings({}, None), None, lambda _: True)  # type: ignore[arg-type]
    with Flask(__name__).test_request_context(f"/socket.io/?EIO={generation}", method="POST", data=TEXT):
        assert door.answer().status_code == 400
    assert taken == [TEXT.encode()]
