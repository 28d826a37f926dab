"""The connection to Redis or Valkey, and what its errors mean to us."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import redis

from battlebot.errors import Unavailable

Answer = TypeVar("Answer")

LONGEST_PAUSE_S = 0.5  # between two attempts of `held`
MOST_CONNECTIONS = 64  # per process; whoever needs one more waits for a free one

OF_A_PIPELINE = " of pipeline caused error: "
# error replies of a server that is up but cannot serve the command now: redis-py has a class for some, whose messages
# lack the first word, unless a script has raised them again
PASSING = (
    redis.ConnectionError,  # also LOADING
    redis.TimeoutError,
    redis.OutOfMemoryError,
    redis.ReadOnlyError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.InvalidResponse,
    redis.exceptions.MasterDownError,
    redis.exceptions.NoPermissionError,
    redis.exceptions.TryAgainError,
    OSError,
)
# not allowed within a script, in the words of Redis 7.2 and Valkey, and of Redis 7.0
IN_A_SCRIPT = ("ACL failure in script", "The user executing the script can't ")
NO_SUCH_DATABASE = "DB index is out of range"
PASSING_WORDS = (
    *IN_A_SCRIPT,
    NO_SUCH_DATABASE,
    "BUSY ",
    "READONLY",
    "LOADING",
    "MASTERDOWN",
    "OOM",
    "MISCONF",
    "NOREPLICAS",
    "TRYAGAIN",
    "CLUSTERDOWN",
)


def connect(url: str, timeout_s: float = 5.0) -> redis.Redis:
    """A client for `url` (redis://, rediss:// or unix://). Connects at the first command."""
    pool = redis.BlockingConnectionPool.from_url(
        url,
        max_connections=MOST_CONNECTIONS,
        timeout=timeout_s,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        health_check_interval=10,
        retry=None,
    )
    return redis.Redis(connection_pool=pool)


def is_passing(error: Exception) -> bool:
    """Returns whether the same command may succeed later."""
    if isinstance(error, PASSING):
        return True
    # redis-py begins a pipeline's error with the command that failed
    words = str(error).rpartition(OF_A_PIPELINE)[2]
    return isinstance(error, redis.ResponseError) and words.startswith(PASSING_WORDS)


def unavailable(error: Exception) -> Unavailable:
    """What an error that is passing means: that Redis is away, or what its operator has to put right first."""
    cause = error.__cause__ or error.__context__
    if isinstance(error, redis.AuthenticationError):
        return Unavailable("Redis refuses the user or the password of REDIS_URL.")
    if isinstance(error, redis.exceptions.NoPermissionError) or str(error).startswith(IN_A_SCRIPT):
        return Unavailable("Redis does not allow this: the user of REDIS_URL needs ~bb:* ~LIMITS:* &* +@all.")
    if str(error).startswith(NO_SUCH_DATABASE):
        return Unavailable("Redis has no database of the number that REDIS_URL names.")
    if isinstance(error, redis.exceptions.InvalidResponse):
        return Unavailable("What answers at REDIS_URL is no Redis.")
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Unavailable(f"The certificate of Redis cannot be verified: {cause.verify_message}.")
    return Unavailable(f"Redis does not answer now ({_kind(error, cause)}).")


def _kind(error: Exception, cause: BaseException | None) -> str:
    """What the system or the TLS library says of the connection; without it, the client's name for the error."""
    if isinstance(cause, ssl.SSLError) and cause.reason:
        return f"TLS: {cause.reason.replace('_', ' ').lower()}"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return type(error).__name__


def time_s(client: redis.Redis) -> float:
    """Returns the time on Redis's clock (epoch). Raises Unavailable."""
    with redis_errors():
        found: Any = client.time()
    seconds, micros = found
    return int(seconds) + int(micros) / 1e6


def texts(values: Any) -> list[str]:
    """Returns the members of a Redis answer as text."""
    return [value.decode() for value in values]


@contextmanager
def redis_errors() -> Iterator[None]:
    """Turns the driver's errors for an absent or unwritable Redis into Unavailable."""
    try:
        yield
    except (redis.RedisError, OSError) as error:
        if is_passing(error):
            raise unavailable(error) from error
        raise


def of_each(client: redis.Redis, subjects: Iterable[str], ask: Callable[[Any, str], object]) -> list[Any]:
    """Returns the answer about each, to the one command by which `ask(pipeline, subject)` asks: in one round trip.

    Asks nothing if there is no subject. Raises Unavailable.
    """
    with redis_errors():
        pipeline = client.pipeline(transaction=False)
        for subject in subjects:
            ask(pipeline, subject)
        return pipeline.execute()


def held(attempt: Callable[[], Answer], for_s: float) -> Answer:
    """Repeats `attempt` until it does not raise Unavailable; after `for_s` seconds raises its last Unavailable."""
    until = time.monotonic() + for_s
    pause_s = 0.02
    while True:
        try:
            return attempt()
        except Unavailable:
            if time.monotonic() + pause_s > until:
                raise
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
