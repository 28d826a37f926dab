"""Answers questions that wait at the same moment by one request, as when many logins ask a database at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from battlebot.runtime.background import in_background

Question = TypeVar("Question")
Answer = TypeVar("Answer")

_Group = list[tuple[Question, Future[Answer]]]

MOST = 200  # questions per request


class Batcher(Generic[Question, Answer]):
    """`answer_all(questions)` returns answers in their order; one thread at a time calls it, with those that wait then.

    So no question is answered by a request that was already under way when it was put.
    """

    def __init__(self, answer_all: Callable[[Sequence[Question]], Sequence[Answer]]) -> None:
        self._answer_all = answer_all
        self._waiting: deque[tuple[Question, Future[Answer]]] = deque()
        self._guard = threading.Lock()
        self._busy = False

    def ask(self, question: Question) -> Answer:
        """Returns the answer. Raises what `answer_all` raised for the question's group."""
        answered: Future[Answer] = Future()
        with self._guard:
            self._waiting.append((question, answered))
            begins, self._busy = not self._busy, True
        if begins:
            # in a thread of its own: if the asking thread is interrupted, the others must not be kept waiting
            in_background(self._answer_them)
        try:
            return answered.result()
        finally:
            # an error's traceback holds this call: all who asked would stay in memory until the collector runs
            del answered

    def _answer_them(self) -> None:
        while group := self._next():
            try:
                self._answer(group)
            except Exception as error:
                _fail(group, error)

    def _answer(self, group: _Group[Question, Answer]) -> None:
        answers = self._answer_all([question for question, _ in group])
        for (_, answered), answer in zip(group, answers, strict=True):
            answered.set_result(answer)

    def _next(self) -> _Group[Question, Answer]:
        with self._guard:
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST))]
            self._busy = bool(group)
        return group


def _fail(group: _Group[Question, Answer], error: Exception) -> None:
    """Empties the group: the error's traceback holds who asked for it."""
    while group:
        _, answered = group.pop()
        if not answered.done():
            answered.set_exception(error)
