"""What is done in a process of its own."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from battlebot.errors import Unavailable
from battlebot.runtime import elsewhere as module
from battlebot.runtime.elsewhere import MOST, Elsewhere


def test_another_process_answers() -> None:
    """What the function returns; asked again, it is remembered."""
    elsewhere = Elsewhere()
    other = elsewhere(os.getpid)
    assert other != os.getpid()
    assert elsewhere(os.getpid) == other
    assert elsewhere(Fraction, 1, 3) == Fraction(1, 3)


def test_many_who_want_the_same_have_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the latest answers are remembered, not all."""
    asked, answers, may_end = list[Any](), list[Any](), threading.Event()

    def answer(_function: Any, arguments: Any) -> Any:
        asked.append(arguments)
        may_end.wait(10)
        return arguments

    monkeypatch.setattr(module, "_in_new_process", answer)
    elsewhere = Elsewhere()
    threads = [threading.Thread(target=lambda: answers.append(elsewhere(max, 1, 2))) for _ in range(5)]
    for thread in threads:
        thread.start()
    may_end.set()
    for thread in threads:
        thread.join()
    assert (asked, answers) == ([(1, 2)], [(1, 2)] * 5)
    for number in range(MOST):
        elsewhere(max, 1, 2)
        elsewhere(max, number, 0)
    assert len(asked) == MOST + 1
    elsewhere(max, 0, 0)
    assert len(asked) == MOST + 2


def test_what_a_module_prints_is_no_part_of_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when it is imported, nor when it works."""
    (tmp_path / "talkative.py").write_text("print('hello')\ndef twice(n):\n    print(n)\n    return 2 * n\n")
    monkeypatch.syspath_prepend(tmp_path)
    with capture_logs() as logs:
        assert Elsewhere()(importlib.import_module("talkative").twice, 21) == 42
    assert not logs


def test_what_is_killed_is_not_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is stopped, or a system that is short of memory, is no reason to hold up those who play."""
    with pytest.raises(Unavailable), capture_logs() as logs:
        Elsewhere()(killed, "SIGKILL")
    assert [line["event"] for line in logs] == ["aside.failed"]
    # who stops all processes of a service lets this one end by itself
    assert Elsewhere()(killed, "SIGTERM") == "done"


def killed(name: str) -> str:
    """Has its own process killed."""
    os.kill(os.getpid(), signal.Signals[name])
    return "done"


@pytest.mark.parametrize("command", ["/bin/false", "/bin/true", "/bin"])
def test_without_another_process_it_is_done_here(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that fails, says nothing, or cannot be started: nobody who asked goes without an answer."""
    monkeypatch.setattr(sys, "executable", command)
    with capture_logs() as logs:
        assert Elsewhere()(os.getpid) == os.getpid()
    assert [line["event"] for line in logs] == ["aside.failed"]


def test_what_the_function_raises_is_raised() -> None:
    """It fails there, and then here."""
    with pytest.raises(ZeroDivisionError):
        Elsewhere()(Fraction, 1, 0)
