"""The supervisor, over small real processes."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import eventually
from structlog.testing import capture_logs

from battlebot.embedded import process
from battlebot.embedded import supervisor as module
from battlebot.embedded.process import Child, Program
from battlebot.embedded.supervisor import Supervisor
from battlebot.errors import EmbeddedError

# This one and NOTE wait for the signal itself: a handler runs only after a sleep that begins just after the signal
DEAF = [
    sys.executable,
    "-S",
    "-c",
    "import signal\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
    "print('ready', flush=True)\n"
    "while signal.sigwait({signal.SIGTERM}): print('told', flush=True)",
]
SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
FAIL = [sys.executable, "-S", "-c", "import sys; sys.exit('error: no luck today')"]
# Pauses, so that it does not keep a processor busy
TALK = [sys.executable, "-S", "-c", "import time\nwhile True: print('a long line' * 40, flush=True); time.sleep(0.001)"]
# Writes its name on SIGTERM, so that the order shows
NOTE = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
open(sys.argv[3], "w")
signal.sigwait({signal.SIGTERM})
open(sys.argv[1], "a").write(sys.argv[2] + " ")
"""


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    """A supervisor that is stopped at the end."""
    supervisor = Supervisor()
    yield supervisor
    supervisor.stop()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGRTMIN + 3])
def test_what_dies_is_started_again(supervisor: Supervisor, number: int) -> None:
    """By whatever it dies, also by a signal that has no name."""
    supervisor.start(Program(name="sleeper", command=SLEEP))
    supervisor.watch()
    first = supervisor.child("sleeper").pid
    os.kill(first, number)
    eventually(lambda: supervisor.child("sleeper").pid != first and supervisor.child("sleeper").alive)


def test_the_log_of_what_runs_for_long_does_not_fill_the_disk(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mongod logs each connection and each slow request, and may run for years. Its latest lines are kept."""
    monkeypatch.setattr(process, "_LOG_BYTES", 10_000)
    log, before = tmp_path / "talker.log", tmp_path / "talker.log.1"
    supervisor.start(Program(name="talker", command=TALK, log=log))
    supervisor.watch()
    first = supervisor.child("talker").pid
    eventually(before.exists)
    moved = before.stat().st_mtime_ns
    eventually(lambda: before.stat().st_mtime_ns > moved)
    # what has been moved is in the log no more
    eventually(lambda: log.stat().st_size < before.stat().st_size)
    for kept in (log, before):
        eventually(lambda kept=kept: kept.read_text().startswith("a long line"))
    assert supervisor.child("talker").pid == first


def test_a_folder_that_is_gone_ends_no_supervision(supervisor: Supervisor, tmp_path: Path) -> None:
    """Neither its own child's nor that of the others: what wants it waits until it is there again."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name, disk in (("wanting", folder), ("sleeper", None)):
        supervisor.start(Program(name=name, command=SLEEP, disk=disk))
    first = {name: supervisor.child(name).pid for name in ("wanting", "sleeper")}
    folder.rmdir()
    supervisor.watch()
    for pid in first.values():
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: supervisor.child("sleeper").pid != first["sleeper"])
    assert supervisor.child("wanting").pid == first["wanting"]
    folder.mkdir()
    eventually(lambda: supervisor.child("wanting").pid != first["wanting"])


def test_the_pauses_double_up_to_the_longest(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.2 s at first; what keeps dying must not keep the machine busy."""
    monkeypatch.setattr(module, "FIRST_DELAY_S", 0.01)
    monkeypatch.setattr(module, "LONGEST_DELAY_S", 0.05)
    supervisor.start(Program(name="failing", command=FAIL, log=None))
    place = supervisor._places["failing"]
    place.delay_s = 0.01
    delays = []
    for _ in range(5):
        eventually(lambda: not place.child.alive)
        delays.append(place.delay_s)
        supervisor._look(time.monotonic())
        supervisor._look(place.restart_s or 0.0)
    assert delays == pytest.approx([0.01, 0.02, 0.04, 0.05, 0.05])


def test_what_keeps_dying_ends_the_supervision_in_one_clear_line(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the status and the last words of it."""
    monkeypatch.setattr(module, "LONGEST_DELAY_S", 0.01)
    supervisor.start(Program(name="failing", command=FAIL, log=tmp_path / "failing.log"))
    supervisor._places["failing"].delay_s = 0.01
    supervisor.watch()
    with pytest.raises(
        EmbeddedError, match=r"failing died 10 times, never 10 seconds old \(exit status 1\): error: no luck today"
    ):
        eventually(lambda: supervisor.wait(0.1))


def test_what_keeps_dying_ends_the_supervision_though_its_log_cannot_be_read(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without its last words: it would be started again for ever."""
    monkeypatch.setattr(module, "LONGEST_DELAY_S", 0.01)
    log = tmp_path / "sleeper.log"
    supervisor.start(Program(name="sleeper", command=SLEEP, log=log))
    supervisor._places["sleeper"].delay_s = 0.01
    log.unlink()
    log.mkdir()
    os.kill(supervisor.child("sleeper").pid, signal.SIGKILL)
    supervisor.watch()
    with pytest.raises(EmbeddedError, match="sleeper died 10 times"):
        eventually(lambda: supervisor.wait(0.1))


def test_a_child_is_told_once_to_stop(tmp_path: Path) -> None:
    """To many a program a second SIGTERM says that it shall not wait for anything."""
    log = tmp_path / "told.log"
    child = Child(Program(name="deaf", command=DEAF, log=log, stop_s=1.0))
    eventually(lambda: "ready" in log.read_text())
    child.ask_to_stop()
    eventually(lambda: "told" in log.read_text())
    child.stop()
    assert (log.read_text().count("told"), child.status()) == (1, "SIGKILL")


def test_what_is_optional_may_keep_dying(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is started again without end, and the others go on."""
    monkeypatch.setattr(module, "LONGEST_DELAY_S", 0.01)
    supervisor.start(Program(name="sleeper", command=SLEEP))
    supervisor.start(Program(name="failing", command=FAIL, optional=True))
    place = supervisor._places["failing"]
    place.delay_s = 0.01
    supervisor.watch()
    eventually(lambda: place.deaths > module.GIVE_UP_DEATHS)
    assert not supervisor.wait(0.1)
    assert supervisor.child("sleeper").alive


def test_who_had_settled_is_started_again_without_end(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is killed, and with the shortest pause each time."""
    monkeypatch.setattr(module, "SETTLED_S", 0.0)
    monkeypatch.setattr(module, "FIRST_DELAY_S", 0.01)
    supervisor.start(Program(name="sleeper", command=SLEEP))
    place = supervisor._places["sleeper"]
    for _ in range(module.GIVE_UP_DEATHS + 2):
        os.kill(place.child.pid, signal.SIGKILL)
        eventually(lambda: not place.child.alive)
        place.started_s -= 1
        supervisor._look(time.monotonic())
        assert place.delay_s == pytest.approx(0.02)
        supervisor._look(place.restart_s or 0.0)


def test_what_cannot_be_started_now_is_tried_again(supervisor: Supervisor, tmp_path: Path) -> None:
    """No room for its log, say: the others are looked after meanwhile."""
    log = tmp_path / "logs" / "sleeper.log"
    supervisor.start(Program(name="sleeper", command=SLEEP, log=log))
    first = supervisor.child("sleeper").pid
    log.unlink()
    log.parent.rmdir()
    log.parent.write_text("a file where the folder was")
    supervisor.watch()
    os.kill(first, signal.SIGKILL)
    place = supervisor._places["sleeper"]
    eventually(lambda: place.deaths >= 2)
    log.parent.unlink()
    eventually(lambda: supervisor.child("sleeper").alive)


class Unforeseen(Program):
    """What nobody thought of, when it is to be started again."""

    def has_room(self) -> bool:
        raise ZeroDivisionError


def test_an_error_about_one_part_leaves_the_others_supervised(supervisor: Supervisor) -> None:
    """Whatever it is: else nothing would be started again any more, in silence. It is told once, not at each look."""
    for program in (Unforeseen(name="odd", command=SLEEP), Program(name="sleeper", command=SLEEP)):
        supervisor.start(program)
    first = supervisor.child("sleeper").pid
    with capture_logs() as logs:
        supervisor.watch()
        for name in ("odd", "sleeper"):
            os.kill(supervisor.child(name).pid, signal.SIGKILL)
        eventually(lambda: supervisor.child("sleeper").pid != first)
        odd = supervisor._places["odd"]
        eventually(lambda: odd.deaths > 3)
    told = [one["part"] for one in logs if one["event"] == "part.not_looked_after"]
    assert told == ["odd"]


def test_children_stop_in_the_reverse_order_of_their_start(tmp_path: Path) -> None:
    """The stores must be the last to go."""
    supervisor = Supervisor()
    for name in ("first", "second", "third"):
        command = [sys.executable, "-S", "-c", NOTE, str(tmp_path / "order"), name, str(tmp_path / name)]
        supervisor.start(Program(name=name, command=command))
    supervisor.watch()
    eventually(lambda: all((tmp_path / name).exists() for name in ("first", "second", "third")))
    supervisor.stop()
    assert (tmp_path / "order").read_text() == "third second first "


def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """After the time that its program says."""
    stubborn = (
        f"import signal, time; signal.signal(15, signal.SIG_IGN); open({str(tmp_path / 'up')!r}, 'w'); time.sleep(600)"
    )
    supervisor = Supervisor()
    supervisor.start(Program(name="stubborn", command=[sys.executable, "-S", "-c", stubborn], stop_s=0.1))
    child = supervisor.child("stubborn")
    eventually(lambda: (tmp_path / "up").exists())
    supervisor.stop()
    assert child.status() == "SIGKILL"
