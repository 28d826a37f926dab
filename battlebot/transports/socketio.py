"""The socket.io door: viewers of Battle-cubed start games of bots behind HTTP and receive their events.

For clients of socket.io 2 (EIO=3) and later (EIO=4), by polling or WebSocket, at the usual path. The messages are in
`wire.cubed`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from typing import Any

import structlog
from flask import Flask, Response, request

from battlebot.config import Settings, is_allowed_viewer
from battlebot.errors import BadAddress, BadMessage, BattlebotError, Refused, TooMany, Unavailable, WrongState
from battlebot.runtime.background import in_background
from battlebot.runtime.cooperative import cooperatively, in_turn, in_turn_if_large
from battlebot.runtime.counting import Tally
from battlebot.transports.hijacked import Hijacked
from battlebot.transports.limits import Rate
from battlebot.transports.ports import Battles, Match
from battlebot.transports.socketio_servers import HIJACKED, NEW, OLD, TOO_DEEP, Handler, make_servers
from battlebot.transports.socketio_session import Session, events_of
from battlebot.wire import cubed
from battlebot.wire.addresses import household

GAME = "battlecube"
METHODS = ("GET", "POST", "OPTIONS")
MOST_WATCHED = 16  # games that one viewer may follow at a time
EVENTS_PER_S = 5.0  # that a viewer may send
RATE = "battlebot.rate"  # key in the environment of the request that opened a connection
AGAIN_S = 1.0  # between two looks whether a game that was put off may begin

log = structlog.get_logger()


class SocketIoDoor:
    """`may_begin(address)` counts a game; returns whether it is within the address's limit over all nodes.

    It may raise Unavailable.
    """

    def __init__(self, settings: Settings, battles: Battles, may_begin: Callable[[str], bool]) -> None:
        self._settings = settings
        self._battles = battles
        self._may_begin = may_begin
        self._sessions: dict[tuple[int, str], Session] = {}
        self._addresses: dict[str, str] = {}
        self._held = Tally()
        self._drains = False
        events: dict[str, Handler] = {
            "NEW_GAME": self._new_game,
            "GAME_SETUP_UPDATE": self._update,
            "WATCH_GAME": self._watch,
        }
        session: dict[str, Handler] = {"connect": self._connect, "disconnect": self._disconnect}
        self.servers = make_servers(settings, self, events, {**session, TOO_DEEP: self._too_deep})

    def drain(self) -> None:
        """Ends all connections because the node stops, and admits no more. The games that they started go on.

        Not by a DISCONNECT of socket.io, after which clients do not connect again.
        """
        self._drains = True
        for server in self.servers.values():
            server.eio.disconnect()

    def answer(self) -> Response:
        """Answers a client's request; for a WebSocket, returns when it has ended."""
        asked = request.args.get("EIO")
        server = self.servers.get(asked or "")
        if server is None:
            sentence = f"This door speaks EIO={OLD} (socket.io 2) and EIO={NEW} (socket.io 3 and later).\n"
            return Response(sentence, 400, mimetype="text/plain")
        environ, head = request.environ, dict[str, Any]()
        # the body was read, and its length checked, before this call
        body = request.get_data()
        in_turn_if_large(body)
        environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}

        def start(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            head.update(status=status, headers=headers)

        parts = server.handle_request(environ, start)
        if environ.get(HIJACKED):
            return Hijacked()
        return self._with_origin(Response(parts, head["status"], head["headers"]))

    def _with_origin(self, response: Response) -> Response:
        """Lets a page of another origin read the response, if that origin is allowed."""
        origin = request.headers.get("Origin")
        if origin is not None and is_allowed_viewer(self._settings, origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Allow-Credentials"] = "true"
            response.headers["Vary"] = "Origin"
        return response

    def admit(self, sid: str, environ: Mapping[str, Any]) -> bool:
        """Counts a connection; returns False, without counting, if there are too many, or the node stops."""
        address, settings = _address_of(environ), self._settings
        if self._drains:
            return False
        if len(self._addresses) >= settings.max_streams or self._held[address] >= settings.max_streams_per_address:
            return False
        self._addresses[sid] = address
        self._held[address] += 1
        return True

    def release(self, sid: str) -> None:
        """Uncounts a connection that is gone."""
        address = self._addresses.pop(sid, None)
        if address is not None:
            self._held.take_off(address)

    def _connect(self, server: Any, sid: str, environ: dict[str, Any], *_: Any) -> bool:
        # a client may disconnect and connect again over the same connection
        rate = environ.setdefault(RATE, Rate(EVENTS_PER_S))
        self._sessions[id(server), sid] = Session(server, sid, _address_of(environ), rate)
        log.info("socketio.session", eio=OLD if server is self.servers[OLD] else NEW, sessions=len(self._sessions))
        return True

    def _disconnect(self, server: Any, sid: str, *_: Any) -> None:
        session = self._sessions.pop((id(server), sid), None)
        if session is not None:
            session.gone = True

    def _new_game(self, server: Any, sid: str, payload: Any = None, *_: Any) -> None:
        def begin(session: Session) -> None:
            if session.game is not None or session.is_put_off:
                raise WrongState(
                    "One socket runs one game at a time: this one's goes on, or is about to begin.", kind=cubed.RUNNING
                )
            wanted = cubed.read_new_game(payload)
            # first: a game that is refused is none that its address begins
            self._check(wanted)
            if not self._starts(session, wanted):
                session.is_put_off = True
                in_background(self._start_later, session, wanted)

        self._attend(server, sid, begin)

    def _starts(self, session: Session, wanted: cubed.NewGame) -> bool:
        """Starts the game; returns False if it must be put off: its address may begin none now, or Redis is away.

        Raises Unavailable for a viewer's first game.
        """
        try:
            if not self._may_begin(session.address):
                return False
            self._start(session, wanted)
        except Unavailable:
            if not session.has_played:
                raise
            return False
        return True

    def _start(self, session: Session, wanted: cubed.NewGame) -> None:
        match = self._battles.begin(GAME, wanted.players, wanted.setup)
        session.game = match.id
        log.info("game.asked_for", match=match.id, players=len(wanted.players))
        session.tell(cubed.started(match.id))
        self._follow(session, match, dict(wanted.players))

    def _start_later(self, session: Session, wanted: cubed.NewGame) -> None:
        """Starts a game as soon as that is possible.

        An `ERROR` would end a batch, or keep a viewer out because of the batches of others at its address.
        """

        def start() -> None:
            time.sleep(AGAIN_S)
            while not session.gone and not self._starts(session, wanted):
                time.sleep(AGAIN_S)

        try:
            self._try(session, start)
        finally:
            session.is_put_off = False

    def _check(self, wanted: cubed.NewGame) -> None:
        try:
            self._battles.check(GAME, wanted.players, wanted.setup)
        except BadAddress as error:
            names = [name for name, _ in wanted.players]
            raise cubed.bad_url(error, names.index(str(error.details.get("player")))) from None

    def _update(self, server: Any, sid: str, payload: Any = None, *_: Any) -> None:
        def change(session: Session) -> None:
            if session.game is None:
                raise WrongState("There is no game of yours to be changed.", kind=cubed.NO_GAME)
            setup = cubed.read_setup(payload)
            if session.setup:
                session.setup = {**session.setup, **setup}
            elif session.rate.take():
                self._change(session.game, setup)
            else:
                session.setup = setup
                in_background(self._change_later, session, session.game)

        self._attend(server, sid, change, is_counted=False)

    def _change(self, match_id: str, setup: Mapping[str, Any]) -> None:
        if not self._battles.reconfigure(match_id, setup):
            raise BadMessage("The game cannot go on so: there is no room for its players, or it is over.")

    def _change_later(self, session: Session, match_id: str) -> None:
        """Makes the changes that came too fast, as those of a slider do, at the allowed rate; the newest ones count."""
        while True:
            time.sleep(1 / EVENTS_PER_S)
            setup = session.setup
            if not setup or session.game != match_id:
                return
            self._try(session, partial(self._change, match_id, setup))
            if session.setup is setup:
                session.setup = {}
                return

    def _watch(self, server: Any, sid: str, payload: Any = None, *_: Any) -> None:
        def watch(session: Session) -> None:
            match_id = cubed.read_watched(payload)
            if match_id in session.watches:
                raise WrongState("This socket is told of that game already.", kind="GAME_WATCHED")
            if len(session.watches) >= MOST_WATCHED:
                raise TooMany("One socket watches no more games.", kind="TOO_MANY_GAMES")
            # the match may be large
            in_turn()
            match = self._battles.find(GAME, match_id)
            session.tell(cubed.started(match.id))
            self._follow(session, match, {})

        self._attend(server, sid, watch)

    def _too_deep(self, server: Any, sid: str, *_: Any) -> None:
        def refuse(_: Session) -> None:
            raise BadMessage("This JSON is nested too deeply.")

        self._attend(server, sid, refuse)

    def _attend(self, server: Any, sid: str, act: Callable[[Session], None], is_counted: bool = True) -> None:
        """Runs a viewer's request; if it fails, or there are too many, sends the viewer an `ERROR`."""

        def counted(session: Session) -> None:
            if is_counted and not session.rate.take():
                raise TooMany("You say too much; wait a moment.", kind="TOO_MANY_EVENTS")
            act(session)

        session = self._sessions.get((id(server), sid))
        if session is not None:
            # by polling several may come at once, and during an upgrade by both ways
            with session.attended:
                self._try(session, partial(counted, session))

    def _try(self, session: Session, act: Callable[[], None]) -> None:
        try:
            act()
        except BattlebotError as error:
            kind = cubed.INVALID if isinstance(error, Refused) else "UNAVAILABLE"
            session.tell(cubed.refusal(error, str(error.details.get("kind", kind))))
        except Exception:
            log.exception("socketio.failed")
            session.tell(cubed.OURS)

    def _follow(self, session: Session, match: Match, urls: Mapping[str, str]) -> None:
        session.watches.add(match.id)
        in_background(self._tell, session, match, urls)

    def _tell(self, session: Session, match: Match, urls: Mapping[str, str]) -> None:
        try:
            for event in cooperatively(events_of(self._battles, match, urls, session.is_there)):
                if not session.waits():
                    return
                if event[0] == cubed.ENDED:
                    session.ended(match.id)
                session.tell(event)
        except BattlebotError as error:
            session.tell(cubed.refusal(error, "UNAVAILABLE"))
        except Exception:
            log.exception("socketio.not_told", match=match.id)
        finally:
            session.watches.discard(match.id)
            session.ended(match.id)


def _address_of(environ: Mapping[str, Any]) -> str:
    return household(environ.get("REMOTE_ADDR") or "unknown")


def init_socketio(app: Flask, door: SocketIoDoor) -> None:
    """Opens the door at `cubed.PATH`."""
    for name, path in (("socketio", cubed.PATH), ("socketio_bare", cubed.PATH.rstrip("/"))):
        app.add_url_rule(path, name, door.answer, methods=METHODS, provide_automatic_options=False)
        app.add_url_rule(path, f"{name}_websocket", door.answer, websocket=True)
        for rule in [*app.url_map.iter_rules(name), *app.url_map.iter_rules(f"{name}_websocket")]:
            # HEAD came with GET; the packages do not know it, and a 405 names all that are: RFC 9110, section 15.5.6
            rule.methods = set(METHODS)
