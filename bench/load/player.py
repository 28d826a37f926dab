"""One connection of a bot: logs in, plays, and checks that every message is the expected one."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from typing import Any

import orjson
from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.load.rules import Rules, State, Turn
from bench.load.tally import Tally

CONNECT_S = 60.0


class Player(WSListener):
    """Plays one match like an original client, or match after match with `keep`. Reports times to the tally."""

    def __init__(
        self, tally: Tally, rules: Rules, auth: dict[str, str], contest: str | None = None, keep: bool = False
    ) -> None:
        self.logged_in, self.seated, self.gone = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.finals = 0
        self.pause_s = 0.0  # average pause before each turn
        self._thinking = random.Random(auth["bot_id"])
        self._tally, self._rules, self._auth, self._contest, self._keep = tally, rules, auth, contest, keep
        self._me = auth["bot_id"]
        self._state: State | None = None
        self._complete = self._leaving = False
        self._match_id = ""
        self._version = 0
        self._sent: Turn | None = None
        self._sent_s = self._began_s = 0.0
        self._transport: WSTransport | None = None
        self._take = self._on_salt

    async def connect(self, url: str) -> None:
        """Connect; callbacks do the rest. Raises OSError and what picows raises."""
        self._began_s = time.perf_counter()
        await ws_connect(lambda: self, url, websocket_handshake_timeout=CONNECT_S)

    def leave(self) -> None:
        """Send a close frame."""
        self._leaving = True
        if self._transport is not None and not self.gone.is_set():
            self._transport.send_close(WSCloseCode.OK)

    @property
    def playing(self) -> bool:
        """Whether it is in a match that is not over."""
        return self._state is not None and not self._complete

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Called by picows."""
        self._transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Called by picows for each frame; picows answers pings itself."""
        if frame.msg_type == WSMsgType.TEXT:
            try:
                self._take(orjson.loads(frame.get_payload_as_memoryview()))
            except (LookupError, TypeError, ValueError) as error:
                self._wrong(f"{error!r} at {frame.get_payload_as_bytes()[:500]!r}")
        elif frame.msg_type == WSMsgType.CLOSE:
            self._on_close(frame)
            transport.send_close(frame.get_close_code())
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """Called by picows when the connection has ended, for whatever reason."""
        if not (self._complete or self._leaving):
            self._wrong("the connection ended before the match did")
        self.gone.set()

    def _on_close(self, frame: WSFrame) -> None:
        code = frame.get_close_code()
        if code != WSCloseCode.OK:
            self._wrong(f"closed with {code} {frame.get_close_message()!r}")
            self._complete = True

    def _on_salt(self, message: dict[str, Any]) -> None:
        login: dict[str, Any] = {"game": self._auth["game"], "bot_id": self._me}
        login["login_hash"] = hashlib.sha256((self._auth["pass_hash"] + message["salt"]).encode()).hexdigest()
        if self._contest is not None:
            login["contest"] = self._contest
        if self._keep:
            login |= {"protocol": 2, "session": "keep"}
        self._take = self._on_reply
        self._send(login)

    def _on_reply(self, message: dict[str, Any]) -> None:
        if message["authentication"] != "OK" or message["bot_id"] != self._me:
            self._wrong(f"the login was answered by {message}")
        self._tally.logged_in(time.perf_counter() - self._began_s)
        self._take = self._on_update
        self.logged_in.set()

    def _on_update(self, message: dict[str, Any]) -> None:
        if self._keep and "state" not in message:
            return
        state, about = message["state"], message["match"]
        if self._state is None or (self._complete and self._keep):
            self._on_first(message)
        elif self._is_told_again(message):
            self._tally.told_again += 1
            return
        else:
            self._on_turn(state, about, message.get("turn"))
        self._state = state
        if self._leaving:
            return
        if state["complete"]:
            self._on_final(state, about)
        elif state["nextPlayer"] == self._me:
            if self.pause_s:
                # exponential: with equal pauses the turns of one group commit would stay together for ever
                pause_s = self._thinking.expovariate(1 / self.pause_s)
                asyncio.get_running_loop().call_later(pause_s, self._play)
            else:
                self._play()

    def _is_told_again(self, message: dict[str, Any]) -> bool:
        """Whether the message repeats the current state, as a delayed server may do; the bot has answered already."""
        about = message["match"]
        same = (about["id"], about["version"], message["state"]) == (self._match_id, self._version, self._state)
        return same and "turn" not in message and not self._complete

    def _play(self) -> None:
        if self._state is not None and not self.gone.is_set():
            self._sent = self._rules.choose(self._state)
            self._sent_s = time.perf_counter()
            self._send(self._sent)

    def _on_first(self, message: dict[str, Any]) -> None:
        state, about = message["state"], message["match"]
        self._match_id, self._version, self._complete, self._sent = about["id"], about["version"], False, None
        if "turn" in message or self._me not in state["players"] or state != self._rules.first(state["players"]):
            self._wrong(f"a match began with {message}")
        self.seated.set()

    def _on_turn(self, state: State, about: dict[str, Any], turn: Turn | None) -> None:
        before = self._state
        assert before is not None
        if self._rules.ending and state.get("reason") == "disconnect":
            # the opponent left because the load generator is ending
            self._complete = self._leaving = True
            return
        if self._complete or turn is None or not turn["valid"] or turn["player"] != before["nextPlayer"]:
            self._wrong(f"after {before} came {turn} and {state}")
            return
        if turn["player"] == self._me:
            self._tally.turned(time.perf_counter() - self._sent_s)
            sent = self._sent or {}
            if any(turn[key] != value for key, value in sent.items()) or len(turn) != len(sent) + 3:
                self._wrong(f"the turn {sent} was acknowledged as {turn}")
            self._sent = None
        if about["id"] != self._match_id or about["version"] != self._version + 1:
            self._wrong(f"after version {self._version} of {self._match_id} came {about}")
        self._version = about["version"]
        if state != self._rules.after(before, turn):
            self._wrong(f"{before} and {turn} led to {state}")

    def _on_final(self, state: State, about: dict[str, Any]) -> None:
        self._complete = True
        if "victor" not in state or state["reason"] != "complete" or self._sent is not None:
            self._wrong(f"a match ended by {state}, {about}")
        self.finals += 1
        self._tally.ended(self._match_id, about["version"], state)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._transport is not None
        self._transport.send(WSMsgType.TEXT, orjson.dumps(message))

    def _wrong(self, sentence: str) -> None:
        self._tally.say_wrong(f"{self._me}: {sentence}")
