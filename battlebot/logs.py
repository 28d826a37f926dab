"""Logging, configured once per process: structlog and the standard library share one formatter.

Other modules decide what is logged; this one only how it looks, and what it may not show.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO
from urllib.parse import unquote

import orjson

from battlebot.config import Settings
from battlebot.runtime.bare import without
from battlebot.wire.plaintext import spelled_out

# for tracebacks that are not shown here (see `_look`), with 70 modules
with without("rich"):
    import structlog
    from structlog.typing import EventDict, Processor, WrappedLogger

SECRET_KEYS = frozenset({"pass_hash", "login_hash", "secret_key", "password", "token", "authorization"})
MASK = "***"

_URL_PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):[^/\s]+@")
# up to the end of the word, so that a long one is read once only
_NATS_URL = re.compile(r"\b((?:nats|tls)://)(\S+)", re.IGNORECASE)
_STORE_URL = re.compile(r"\b((?:rediss?|redis\+socket|unix|mongodb(?:\+srv)?)://)(\S+)", re.IGNORECASE)
_URL_OPTIONS = re.compile(r"(?<=[?&])[^\s&]+")
# MongoDB knows ; as well as &, which may also stand in a value
_OPTION = re.compile(r"(?:^|[?;])([^?;=]+)=")
# also MongoDB's: tlsCertificateKeyFilePassword, proxyPassword, authMechanismProperties=AWS_SESSION_TOKEN:...
_SECRET_OPTION = re.compile(r"pass|pwd|secret|token|credential|authmechanismproperties", re.IGNORECASE)
_DEPTH = 8

# They log every task, tick or request: thousands of lines that are of use only when debugging
_CHATTY = (
    "celery.app.trace",
    "celery.worker.strategy",
    "celery.beat",
    "werkzeug",
    "urllib3",
    "kombu",
    "amqp",
    "pymongo",
)

# If Redis is away or cannot be written to, they go on without it or try again, and log a traceback
_GOES_ON = ("flask-limiter", "kombu.transport.redis", "celery.worker.pidbox")

# They log clients' faulty messages, with a traceback: these are not our errors. The latter's warnings are one for each
# packet that nobody waits for, of which a client may send hundreds a second
_OF_CLIENTS = {"engineio.server": logging.WARNING, "socketio.server": logging.ERROR}


def configure_logs(settings: Settings) -> None:
    """Sends everything that is logged in this process to stderr, as `settings.log_format` and `log_level` say.

    JSON is one line per event. May be called again (a forked worker does); the last call wins.
    """
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = _Handler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                redact,
                neutralise,
                *_look(as_json),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    _spare()
    for name in _GOES_ON:
        logging.getLogger(name).addFilter(_InOneLine(logging.WARNING))
    for name, least in _OF_CLIENTS.items():
        logging.getLogger(name).addFilter(_InOneLine(logging.INFO))
        # otherwise its package sets a level, and adds a handler
        logging.getLogger(name).setLevel(least)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(level if level <= logging.DEBUG else max(level, logging.WARNING))
    logging.captureWarnings(True)


class _Handler(logging.StreamHandler[TextIO]):
    """Logs what could not be logged. Python would write to stderr the message and its arguments as they are."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Called where the error is handled; nothing is done if the stream is gone."""
        error = sys.exc_info()[1]
        if record.name != __name__ and not isinstance(error, OSError):
            what = record.msg.get("event") if isinstance(record.msg, dict) else record.msg
            what = what if isinstance(what, str) else type(what).__name__
            structlog.get_logger(__name__).error("log.failed", of=record.name, what=what, exc_info=error)


@dataclass(frozen=True)
class _InOneLine:
    """A filter that replaces a traceback by the exception's name, and lowers a level above `most` to it."""

    most: int

    def __call__(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[0] is not None:
            record.msg, record.args = f"{record.getMessage()} ({record.exc_info[0].__name__})", ()
            record.exc_info = None
        if record.levelno > self.most:
            record.levelno, record.levelname = self.most, logging.getLevelName(self.most)
        return logging.getLogger().isEnabledFor(record.levelno)


def _spare() -> None:
    """Turns off what the standard library collects per line and we do not show: half of a line's cost (its HOWTO).

    But not the process's number: gunicorn, started by hand, writes it, and its format takes nothing else.
    """
    logging.logThreads = logging.logMultiprocessing = False
    logging._srcfile = None


def _look(as_json: bool) -> list[Processor]:
    # Python's plain traceback: structlog's default for consoles, rich's, prints local variables, and so secrets
    traceback: list[Processor] = [structlog.processors.format_exc_info, _safe_traceback]
    if as_json:
        return [*traceback, structlog.processors.JSONRenderer(serializer=_dumps)]
    plain = structlog.dev.plain_traceback
    return [*traceback, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]


def _safe_traceback(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A structlog processor: masks URLs' passwords and spells out control characters in a traceback, and indents it.

    An exception's message may repeat what a bot sent; the indent shows that none of its lines is an event.
    """
    if (text := event.get("exception")) is not None:
        event["exception"] = "\n".join(f"  {_neutral(line)}" for line in mask_url(text).splitlines())
    return event


def _dumps(event: EventDict, **_: Any) -> str:
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A structlog processor: values of `SECRET_KEYS` at any depth, and passwords within URLs, become `***`."""
    return {key: _redacted(key, value) for key, value in event.items()}


def neutralise(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A structlog processor: control characters and line ends in strings are spelled out, so that none forges a line.

    Bots' names are logged: a newline in one could begin a forged line.
    """
    return {key: _neutral(value) for key, value in event.items()}


def mask_url(text: str) -> str:
    """Returns `text` with the secrets of every URL in it replaced by `***`: the password, and options that may be one.

    Of a NATS server's, all credentials.
    """
    text = _STORE_URL.sub(_without_password, _NATS_URL.sub(_without_login, _URL_OPTIONS.sub(_without_values, text)))
    return _URL_PASSWORD.sub(rf"\1:{MASK}@", text)


def _without_values(options: re.Match[str]) -> str:
    """From the first secret value on all is masked. Names may be percent-encoded, as values are."""
    for option in _OPTION.finditer(options[0]):
        if _SECRET_OPTION.search(unquote(option[1])):
            return f"{options[0][: option.end()]}{MASK}"
    return options[0]


def _without_password(url: re.Match[str]) -> str:
    """Before the last @ of a store's URL is a login, even if its password has a / that ought to be percent-encoded."""
    login, at, place = url[2].rpartition("@")
    user, colon, _ = login.partition(":")
    return f"{url[1]}{user}:{MASK}@{place}" if at and colon else url[0]


def _without_login(url: re.Match[str]) -> str:
    """Before the last @ of a NATS_URL all is secret: a token, or a password of any characters (`config.natslogin`)."""
    _, at, place = url[2].rpartition("@")
    return f"{url[1]}{MASK}@{place}" if at else url[0]


def _redacted(key: object, value: Any, depth: int = 0) -> Any:
    if isinstance(key, str) and key.lower().replace("-", "_") in SECRET_KEYS:
        return MASK
    if isinstance(value, str):
        return mask_url(value) if "://" in value else value
    if depth >= _DEPTH:
        return "..." if isinstance(value, Mapping | list | tuple) else value
    if isinstance(value, Mapping):
        return {name: _redacted(name, inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple) and not _is_exc_info(value):
        return [_redacted(None, inner, depth + 1) for inner in value]
    return value


def _neutral(value: Any) -> Any:
    if isinstance(value, str):
        if value.isascii() and value.isprintable():
            return value  # as nearly all are; spelling out would be most of a line's cost
        # a lone surrogate, which JSON may hold, could not be written at all
        return spelled_out(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_neutral(name): _neutral(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple) and not _is_exc_info(value):
        return [_neutral(inner) for inner in value]
    return value


def _is_exc_info(value: list[Any] | tuple[Any, ...]) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[1], BaseException)
