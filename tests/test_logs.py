"""Logs: one line an event, nothing forged in it, nothing secret in it."""

import logging
import os
import re
from pathlib import Path

import orjson
import pytest
import structlog
from gunicorn.glogging import Logger

from battlebot.config import Settings
from battlebot.logs import configure_logs, mask_url

EVENT = re.compile(r"[a-z]+\.[a-z_]+")

pytestmark = pytest.mark.usefixtures("logs_as_before")


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What was written to stderr."""
    return capsys.readouterr().err.splitlines()


def test_ours_and_the_standard_librarys_events_look_alike(capsys: pytest.CaptureFixture[str]) -> None:
    """gunicorn and Celery know only the standard library."""
    configure_logs(Settings(log_format="json"))
    structlog.get_logger("ours").info("hello", bot="x")
    logging.getLogger("theirs").info("hello %s", "you")
    ours, theirs = map(orjson.loads, lines(capsys))
    assert set(ours) - {"bot"} == set(theirs) == {"event", "level", "logger", "timestamp"}
    assert (ours["event"], ours["bot"], theirs["event"]) == ("hello", "x", "hello you")


def test_gunicorns_own_format_still_works() -> None:
    """As in a node that an operator starts by `gunicorn wsgi:application`: its lines are not ours then."""
    configure_logs(Settings(log_format="json"))
    record = logging.LogRecord("gunicorn.error", logging.INFO, "", 1, "Worker exiting", (), None)
    assert logging.Formatter(Logger.error_fmt).format(record).endswith(f"[{os.getpid()}] [INFO] Worker exiting")


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize(
    "bad", ["a\nb", "a\r\nb", "a\x1b[2Jb", "a\x00b", "a\x85b", "a\u2028b", "a\u202eb", "a\u2066b", "a\u200bb"]
)
def test_no_value_can_forge_a_line(log_format: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever it stands: in the event, in a value, in a list, in a key."""
    configure_logs(Settings(log_format=log_format))
    structlog.get_logger("ours").info("hello " + bad, bot=bad, bots=[bad], inner={bad: bad})
    logging.getLogger("theirs").warning("hello %s", bad)
    written = capsys.readouterr().err
    assert len(written.splitlines()) == 2
    assert not set(bad) - {"a", "b", "[", "2", "J"} & set(written.replace("\n", "", 2)) - {"\n"}


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize("key", ["pass_hash", "login_hash", "secret_key", "password", "token", "Authorization"])
def test_no_secret_is_written(log_format: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    """At the top, within a list, within an object."""
    configure_logs(Settings(log_format=log_format))
    structlog.get_logger("ours").info("hello", **{key: "s3cret", "frame": {"of": [{key: "s3cret"}]}})
    written = capsys.readouterr().err
    assert "s3cret" not in written
    assert written.count("***") == 2


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("redis://user:pw@host/0", "redis://user:***@host/0"),
        ("redis://:pw@host/0", "redis://:***@host/0"),
        ("cannot reach mongodb://a:b%40c@h1,h2/?x=1 now", "cannot reach mongodb://a:***@h1,h2/?x=1 now"),
        ("redis://user:p@ss:w@host/0", "redis://user:***@host/0"),
        ("cannot reach nats://t0k@host:4222 now", "cannot reach nats://***@host:4222 now"),
        ("tls://bb:pa/5@5w0rd@host", "tls://***@host"),
        ("nats://a:b/c@h1,nats://d/e@h2", "nats://***@h2"),
        ("nats://bot.commands", "nats://bot.commands"),
        ("http://host:3000/a@b", "http://host:3000/a@b"),
        ("redis://user:pa/s3@cret@host/0", "redis://user:***@host/0"),
        ("mongodb+srv://user:pa/s?x=#@host/?w=1", "mongodb+srv://user:***@host/?w=1"),
        ("unix://user:pa/ss@/tmp/x.sock?db=1", "unix://user:***@/tmp/x.sock?db=1"),
        ("redis://host/0?password=hunter2", "redis://host/0?password=***"),
        ("redis://host/0?db=1&PASSWORD=hun@ter:2&db=2 now", "redis://host/0?db=1&PASSWORD=***&db=2 now"),
        ("redis://host/0?p%61ssword=hunter2", "redis://host/0?p%61ssword=***"),
        (
            "mongodb://u:p@h/?replicaSet=rs0&tlsCertificateKeyFilePassword=a/b;c&w=1",
            "mongodb://u:***@h/?replicaSet=rs0&tlsCertificateKeyFilePassword=***&w=1",
        ),
        (
            "mongodb://h/?tls=true;authMechanismProperties=AWS_SESSION_TOKEN:a@b",
            "mongodb://h/?tls=true;authMechanismProperties=***",
        ),
        ("https://bot.example/?access_token=t0k&a=b", "https://bot.example/?access_token=***&a=b"),
        ("unix:///tmp/x.sock?db=0", "unix:///tmp/x.sock?db=0"),
    ],
)
def test_passwords_in_urls_are_masked(url: str, masked: str) -> None:
    """And nothing else in them."""
    assert mask_url(url) == masked


def test_an_exception_is_one_line_of_json_without_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    """rich's traceback, structlog's choice where it is installed, would print `hidden`."""
    for log_format, count in (("json", 1), ("console", None)):
        configure_logs(Settings(log_format=log_format))
        try:
            hidden = "s3cr" + "et"
            raise ValueError(f"of {len(hidden)}")
        except ValueError:
            structlog.get_logger("ours").exception("failed")
        written = capsys.readouterr().err
        assert "ValueError: of 6" in written
        assert "s3cret" not in written
        assert count is None or len(written.splitlines()) == count


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\x1b[2Jb", "a\x85b", "a\u2028b", "a\u202eb", "a\ud800b"])
def test_an_exceptions_message_forges_no_line_and_tells_no_password(
    log_format: str, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may repeat what a bot sent, or an operator's URL."""
    configure_logs(Settings(log_format=log_format))
    try:
        raise ValueError(f"{bad} redis://user:s3cret@host")
    except ValueError:
        structlog.get_logger("ours").exception("failed")
    written = capsys.readouterr().err
    assert "s3cret" not in written
    assert "redis://user:***@host" in written
    first, *others = written.splitlines()
    assert "failed" in first
    assert all(line.startswith("  ") for line in others)
    text = orjson.loads(first)["exception"] if log_format == "json" else "\n".join(others)
    assert not set(bad) - set("a\nb[2J") & set(text)


@pytest.mark.parametrize(
    ("package", "level"), [("kombu.transport.redis", logging.WARNING), ("celery.worker.pidbox", logging.ERROR)]
)
def test_a_package_that_goes_on_by_itself_says_so_in_one_line(
    package: str, level: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where Redis cannot be written to; Celery, as it answers pings. Configured twice, as in a forked worker."""
    configure_logs(Settings(log_format="json"))
    configure_logs(Settings(log_format="json"))
    try:
        raise ConnectionError("NOREPLICAS")
    except ConnectionError:
        logging.getLogger(package).log(level, "%s, will retry", "Redis error", exc_info=True)
    line = orjson.loads(lines(capsys)[0])
    assert (line["event"], line["level"]) == ("Redis error, will retry (ConnectionError)", "warning")
    assert "exception" not in line


@pytest.mark.parametrize(("log_level", "count"), [("info", 1), ("warning", 0)])
def test_what_clients_send_is_no_error_of_ours(log_level: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the socket.io packages' tracebacks it is a line for who looks closely."""
    configure_logs(Settings(log_format="json", log_level=log_level))
    try:
        raise ValueError("Invalid transport")
    except ValueError:
        logging.getLogger("engineio.server").exception("post request handler error")
    told = [orjson.loads(line) for line in lines(capsys)]
    assert [(one["event"], one["level"]) for one in told] == [
        ("post request handler error (ValueError)", "info")
    ] * count


def test_what_could_not_be_logged_is_told_without_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    """Python itself would write the message and its arguments to stderr."""
    configure_logs(Settings(log_format="json"))
    logging.getLogger("theirs").error("%s and %s", "redis://:hunter2@host/")
    structlog.get_logger("ours").info("too.large", number=2**70, url="redis://:hunter2@host/")
    written = lines(capsys)
    theirs, ours = map(orjson.loads, written)
    assert {theirs["event"], ours["event"]} == {"log.failed"}
    assert (theirs["of"], theirs["what"], ours["of"], ours["what"]) == ("theirs", "%s and %s", "ours", "too.large")
    assert "TypeError" in theirs["exception"]
    assert "hunter2" not in "".join(written)


def test_the_level_holds_for_both(capsys: pytest.CaptureFixture[str]) -> None:
    """What is below it is not written."""
    configure_logs(Settings(log_format="json", log_level="warning"))
    structlog.get_logger("ours").info("quiet")
    logging.getLogger("theirs").info("quiet")
    logging.getLogger("theirs").warning("loud")
    assert [orjson.loads(line)["event"] for line in lines(capsys)] == ["loud"]


def test_what_a_logger_cannot_write_as_json_is_written_as_its_repr(capsys: pytest.CaptureFixture[str]) -> None:
    """An event must never be lost, or raise, because of a value."""
    configure_logs(Settings(log_format="json"))
    structlog.get_logger("ours").info("hello", thing={1, 2}, broken="\ud800")
    assert "hello" in lines(capsys)[0]


def test_every_event_is_named_by_a_thing_and_what_has_become_of_it() -> None:
    """As `match.ended` is: so an operator finds all that concerns a thing, and nothing else."""
    root = Path(__file__).parent.parent
    files = [*root.glob("battlebot/**/*.py"), *root.glob("tasks/*.py"), root / "app.py"]
    ours = "\n".join(text for text in map(Path.read_text, files) if "structlog.get_logger(" in text)
    events = set(re.findall(r'\b(?:log|get_logger\(\w*\))\.[a-z]+\(\s*"([^"]+)"', ours))
    assert len(events) > 50, "the search has found the events"
    assert [event for event in sorted(events) if not EVENT.fullmatch(event)] == []
