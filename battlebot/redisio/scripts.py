"""Runs our Lua scripts: loads them again if a restarted Redis forgot them, and groups calls into one round trip.

`Scripts` sends each call by itself. `GroupedScripts` is for processes of many greenlets, the nodes and the worker that
asks bots: the calls that wait at one moment travel together. The first caller sends for all, and hands over to the next
when its own call is answered. Turns have lines of their own (`turns`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Protocol

import redis

from battlebot.redisio.connection import is_passing, redis_errors, unavailable
from battlebot.redisio.transactions import Command, TransactionConnection

Argument = str | bytes | int | float


class Script:
    """A Lua script of this project, by its package and file."""

    def __init__(self, package: str, name: str) -> None:
        self.text = files(package).joinpath(name).read_text()
        # Redis identifies scripts by SHA-1; it protects nothing
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def command(self, keys: Sequence[str], arguments: Sequence[Argument]) -> Command:
        """Returns the command that runs it."""
        return ("EVALSHA", self.sha, len(keys), *keys, *arguments)


class Scripts:
    """Runs scripts one by one; for processes that commit now and then."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """Returns the script's answer. Raises Unavailable; the script may have run all the same."""
        with redis_errors():
            try:
                return self.client.evalsha(script.sha, len(keys), *keys, *arguments)
            except redis.exceptions.NoScriptError:
                return self.client.eval(script.text, len(keys), *keys, *arguments)

    def run_all(self, script: Script, calls: Sequence[tuple[Sequence[str], Sequence[Argument]]]) -> list[Any]:
        """Returns the answers to calls `(keys, arguments)`, sent together. Raises Unavailable; some may have run."""
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
                raise unavailable(answer) from answer
            raise answer
        return answer


class Gate(Protocol):
    """Lets one thread or greenlet wait for another; made shut, like a semaphore of 0."""

    def acquire(self) -> object:
        """Waits until the gate is opened."""

    def release(self) -> object:
        """Opens it."""


class _Call:
    __slots__ = ("answer", "arguments", "gate", "keys", "leads", "script")

    def __init__(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> None:
        self.script, self.keys, self.arguments = script, keys, arguments
        self.answer: Any = None
        self.leads = False
        self.gate: Gate | None = None  # opened when the answer is there, or the call is to lead


class GroupedScripts(Scripts):
    """Sends the calls that greenlets of one process make at the same time as one transaction, on one connection.

    `new_gate` makes the gates of callers that wait: a gate for greenlets costs less than one for threads.
    """

    def __init__(self, client: redis.Redis, new_gate: Callable[[], Gate]) -> None:
        super().__init__(client)
        self._new_gate = new_gate
        self._connection = TransactionConnection(client)
        self._waiting: list[_Call] = []
        self._busy = False

    def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """Like `Scripts.run`."""
        call = _Call(script, keys, arguments)
        self._waiting.append(call)
        if self._busy:
            call.gate = self._new_gate()
            self._wait(call, call.gate)
            if not call.leads:
                return self._result(call)
        self._busy = True
        group, self._waiting = self._waiting, []
        try:
            self._send(group)
        finally:
            self._hand_over(group)
        return self._result(call)

    def _wait(self, call: _Call, gate: Gate) -> None:
        """Waits for the answer, or for the call's turn to lead. An interrupted caller keeps nobody waiting."""
        try:
            gate.acquire()
        except BaseException:
            if call in self._waiting:
                self._waiting.remove(call)
            if call.leads:
                self._hand_over([])
            raise

    def _hand_over(self, answered: list[_Call]) -> None:
        """Wakes the next to send, then those whose answers are there, so that they work while Redis does."""
        self._busy = bool(self._waiting)
        for call in self._waiting[:1]:
            call.leads = True
            assert call.gate is not None
            call.gate.release()
        for call in answered:
            if call.gate is not None and not call.leads:
                call.gate.release()

    def _send(self, group: list[_Call]) -> None:
        answers: list[Any] = [redis.ConnectionError("interrupted")] * len(group)
        try:
            answers = self._connection.answers([call.script.command(call.keys, call.arguments) for call in group])
        finally:
            # if the sender is interrupted, the others find that no answer came, and go on
            for call, answer in zip(group, answers, strict=True):
                call.answer = answer

    def _result(self, call: _Call) -> Any:
        if isinstance(call.answer, Exception):
            return self._answer(call.script, call.keys, call.arguments, call.answer)
        return call.answer
