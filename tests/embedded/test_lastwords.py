"""What is told of a part that has ended: the words in its log that say why."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from battlebot.embedded import process
from battlebot.embedded.process import Child, Program

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]


def test_the_last_words_of_a_part_of_ours_are_what_ended_it(tmp_path: Path) -> None:
    """Its log has them at the end of a long line, a traceback in JSON."""
    log = tmp_path / "ours.log"
    event = {"event": "error.uncaught", "level": "error", "exception": f"  Traceback\n{' ' * 400}\n  OSError: no luck"}
    child = Child(Program(name="ours", command=SLEEP, log=log))
    log.write_text(json.dumps(event) + "\n")
    child.kill()
    assert child.last_words() == f": OSError: no luck (see {log})"


def test_the_last_words_of_a_web_node_are_those_of_its_worker_process(tmp_path: Path) -> None:
    """Not that it has ended by them, which gunicorn says after that, as an error too; all it says has `error` in it."""
    log = tmp_path / "web.log"
    child = Child(Program(name="web", command=SLEEP, log=log))
    why = {"event": "Exception in worker process", "level": "error", "exception": "  Traceback\n  ImportError: no luck"}
    said = [("info", "Worker exiting (pid: 7)"), ("error", "Worker (pid:7) exited with code 3.")]
    said += [("error", "Shutting down: Master"), ("error", "Reason: Worker failed to boot.")]
    after = [{"event": event, "logger": "gunicorn.error", "level": level} for level, event in said]
    log.write_text("".join(json.dumps(event) + "\n" for event in (why, *after)))
    child.kill()
    assert child.last_words() == f": ImportError: no luck (see {log})"


def test_what_is_critical_is_an_error(tmp_path: Path) -> None:
    """Where the worker process hung; what comes after it explains nothing."""
    log = tmp_path / "web.log"
    child = Child(Program(name="web", command=SLEEP, log=log))
    said = [("critical", "Hangs, for over 30 seconds: app.py:7 f"), ("info", "Handling signal: term")]
    lines = [json.dumps({"event": event, "logger": "gunicorn.error", "level": level}) for level, event in said]
    log.write_text("\n".join(lines))
    child.kill()
    assert child.last_words() == f": {lines[0]} (see {log})"


# what mongod writes as it dies: severity, message, attributes
DIES = [
    ("F", "Fatal assertion", {"msgid": 50853}),
    ("F", "\n\n***aborting after fassert() failure\n\n", {}),
    ("F", "Writing fatal message", {"message": "Got signal: 6 (Aborted).\n"}),
    *[("I", "Frame", {"frame": {"a": "562979C2FBE", "C": "mongo::stack_trace" * 20}})] * 60,
]
ADVICE = ("F", "Please read the documentation for starting MongoDB with --repair here: http://dochub", {})


def wired_tiger(code: int, msg: str, what: str | None = None) -> tuple[str, str, dict[str, object]]:
    """A line of the storage engine's."""
    words = {"verbose_level": "ERROR", "msg": msg, **({"error_str": what} if what else {})}
    return "E", "WiredTiger error message", {"error": code, "message": words}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            [wired_tiger(-31809, "WiredTiger.wt is corrupted", "WT_TRY_SALVAGE: corruption detected"), ADVICE, *DIES],
            "WiredTiger error message WiredTiger.wt is corrupted: WT_TRY_SALVAGE: corruption detected",
        ),
        (
            [
                wired_tiger(-31802, "c.wt: fatal read error"),
                wired_tiger(-31804, "the process must exit", "WT_PANIC"),
                wired_tiger(0, "exiting with 10 pages in memory"),
                *DIES,
            ],
            "WiredTiger error message c.wt: fatal read error",
        ),
        (
            [("F", "Cursor not found", {"error": {"code": 43, "errmsg": "No such file: table:c"}}), *DIES],
            "Cursor not found No such file: table:c",
        ),
        ([("F", "Terminating.", {"reason": "-31803: WT_NOTFOUND"}), *DIES], "Terminating. -31803: WT_NOTFOUND"),
        ([("E", "Failed to handle request", {"error": "SplitHorizon"})], "Failed to handle request SplitHorizon"),
        ([("E", "No port", {"error": 98}), *DIES], "No port 98"),
        ([("I", "Starting", {}), *DIES[2:]], "Writing fatal message Got signal: 6 (Aborted)."),
    ],
)
def test_the_last_words_of_mongod_are_what_it_dies_of(
    lines: list[tuple[str, str, dict[str, object]]], told: str, tmp_path: Path
) -> None:
    """And not that it dies, where in its code, and what to read, which it writes after that."""
    log = tmp_path / "mongod.log"
    child = Child(Program(name="mongod", command=SLEEP, log=log))
    log.write_text("".join(json.dumps({"s": s, "msg": msg, "attr": attr}) + "\n" for s, msg, attr in lines))
    child.kill()
    assert child.last_words() == f": {told} (see {log})"


def test_the_last_words_are_not_an_earlier_childs(tmp_path: Path) -> None:
    """Nor is a warning of Valkey's that has no word of ours less telling than an error, unless it is mere advice."""
    log = tmp_path / "valkey.log"
    log.write_text("1:M 27 Nov 2026 09:28:21.317 # Error: of last year\n")
    last = "2:M 27 Nov 2026 09:30:36.509 # Bad file format reading the append only file"
    lines = ["2:M 27 Nov 2026 09:30:36.409 # OS error: harmless", last, "2:M 27 Nov 2026 09:30:36.510 * Bye"]
    child = Child(Program(name="valkey", command=SLEEP, log=log))
    with log.open("a") as stream:
        stream.write("2:M 27 Nov 2026 09:30:36.407 # WARNING Memory overcommit must be enabled!\n")
        stream.write("2:M 27 Nov 2026 09:30:36.408 * Loading\n")
    assert child.last_words() == f": 2:M 27 Nov 2026 09:30:36.408 * Loading (see {log})"
    with log.open("a") as stream:
        stream.write("".join(f"{line}\n" for line in lines))
    child.kill()
    assert child.last_words() == f": {last} (see {log})"


def test_last_words_that_no_parser_can_read_are_told_as_they_are(tmp_path: Path) -> None:
    """They must not end the supervisor, too."""
    log = tmp_path / "deep.log"
    child = Child(Program(name="deep", command=SLEEP, log=log))
    log.write_text("[" * 10_000)
    child.kill()
    assert child.last_words() == f": {'[' * 300} (see {log})"


def test_what_a_full_disk_has_left_of_a_line_is_not_told(tmp_path: Path) -> None:
    """What came before it is, if anything did."""
    log = tmp_path / "mongod.log"
    child = Child(Program(name="mongod", command=SLEEP, log=log))
    torn = '{"t":{"$date":"2026-11-29T08:10:42.300Z"},"s":"I","msg":"Opening","attr":{"config":"error_prefix,'
    log.write_text(json.dumps({"s": "I", "msg": "MongoDB starting"}) + f"\n{torn}")
    assert child.last_words() == f": MongoDB starting (see {log})"
    log.write_text(torn)
    assert child.last_words() == f" (see {log})."
    child.kill()


def test_the_last_words_are_found_after_the_log_has_been_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it has grown since to where the child's own lines began before."""
    log = tmp_path / "moved.log"
    log.write_text("an earlier child's\n")
    child = Child(Program(name="moved", command=SLEEP, log=log))
    monkeypatch.setattr(process, "_LOG_BYTES", 10)
    child.bound_log()
    with log.open("a") as stream:
        stream.write("what it says after that\n")
    child.kill()
    assert child.last_words() == f": what it says after that (see {log})"
