"""Runs our Lua scripts: loads them where a restarted Redis forgot them, and groups calls into one round trip.

`Scripts` sends each call by itself. `GroupedScripts` is for web nodes: the calls that wait at one moment travel as one
pipeline; whoever comes first sends for all, and hands over to the next when its own call is answered.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import redis

from battlebot.arena.connection import is_passing, redis_errors
from battlebot.errors import Unavailable

Argument = str | bytes | int | float


class Script:
    """A Lua script of this project, by its package and file."""

    def __init__(self, package: str, name: str) -> None:
        self.text = files(package).joinpath(name).read_text()
        # Redis names scripts so; it is no secret
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()


class Scripts:
    """Runs scripts one by one; for processes that commit now and then."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """The script's answer. Raises Unavailable; the script may have been run all the same."""
        with redis_errors():
            try:
                return self.client.evalsha(script.sha, len(keys), *keys, *arguments)
            except redis.exceptions.NoScriptError:
                return self.client.eval(script.text, len(keys), *keys, *arguments)

    def run_all(self, script: Script, calls: Sequence[tuple[Sequence[str], Sequence[Argument]]]) -> list[Any]:
        """The answers to calls `(keys, arguments)` that travel together. Raises Unavailable; some may have been run."""
        pipeline = self.client.pipeline(transaction=False)
        for keys, arguments in calls:
            pipeline.evalsha(script.sha, len(keys), *keys, *arguments)
        with redis_errors():
            answers = pipeline.execute(raise_on_error=False)
        return [self._answer(script, *call, answer) for call, answer in zip(calls, answers, strict=True)]

    def _answer(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument], answer: Any) -> Any:
        if isinstance(answer, redis.exceptions.NoScriptError):
            return Scripts.run(self, script, keys, arguments)
        if isinstance(answer, Exception):
            if is_passing(answer):
                raise Unavailable(f"Redis does not answer now ({type(answer).__name__}).") from answer
            raise answer
        return answer


class _Call:
    __slots__ = ("answer", "arguments", "event", "keys", "leads", "script")

    def __init__(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> None:
        self.script, self.keys, self.arguments = script, keys, arguments
        self.answer: Any = None
        self.leads = False
        self.event: threading.Event | None = None


class GroupedScripts(Scripts):
    """Runs the scripts that greenlets of one process ask for at the same time in one round trip."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self._waiting: list[_Call] = []
        self._busy = False

    def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """As `Scripts.run`."""
        call = _Call(script, keys, arguments)
        self._waiting.append(call)
        if self._busy:
            call.event = threading.Event()
            call.event.wait()
            if not call.leads:
                return self._result(call)
        self._busy = True
        batch, self._waiting = self._waiting, []
        try:
            self._send(batch)
        finally:
            self._hand_over(batch, call)
        return self._result(call)

    def _hand_over(self, batch: list[_Call], leader: _Call) -> None:
        for call in batch:
            if call is not leader and call.event is not None:
                call.event.set()
        self._busy = bool(self._waiting)
        if self._waiting:
            successor = self._waiting[0]
            successor.leads = True
            assert successor.event is not None
            successor.event.set()

    def _send(self, batch: list[_Call]) -> None:
        pipeline = self.client.pipeline(transaction=False)
        for call in batch:
            pipeline.evalsha(call.script.sha, len(call.keys), *call.keys, *call.arguments)
        try:
            answers = pipeline.execute(raise_on_error=False)
        except Exception as error:
            answers = [error] * len(batch)
        for call, answer in zip(batch, answers, strict=True):
            call.answer = answer

    def _result(self, call: _Call) -> Any:
        return self._answer(call.script, call.keys, call.arguments, call.answer)
