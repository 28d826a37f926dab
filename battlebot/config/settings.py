"""The table `Settings`: each setting is one line with its default, bounds, and a sentence for the docs."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

# variables that may hold a secret and must not be printed with the other settings
SECRET = frozenset({"SECRET_KEY", "REDIS_URL", "MONGODB_URI", "NATS_URL"})


def _setting(default: Any, env: str, doc: str, low: float | None = None, high: float | None = None) -> Any:
    """One row of the table: default, name in the environment, sentence, inclusive bounds."""
    metadata = {"env": env, "doc": doc, "low": low, "high": high}
    return field(default=default, metadata=metadata, repr=env not in SECRET)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that an operator can set. Times are seconds unless the name says otherwise."""

    host: str = _setting("127.0.0.1", "BATTLEBOT_HOST", "Address the web node and the TCP door listen on.")
    port: int = _setting(3000, "BATTLEBOT_PORT", "Port the web node listens on; without it, `PORT` is read.", 1, 65535)
    data: Path = _setting(Path(".battlebot"), "BATTLEBOT_DATA", "Folder of the embedded servers and the secret key.")
    redis_url: str = _setting("", "REDIS_URL", "URL of Redis or Valkey; empty: an embedded Valkey is started.")
    mongodb_uri: str = _setting(
        "", "MONGODB_URI", "URI of a MongoDB replica set; empty: an embedded mongod is started."
    )
    mongodb_database: str = _setting("battlebot", "MONGODB_DATABASE", "Database, unless MONGODB_URI names one.")
    secret_key: str = _setting(
        "",
        "SECRET_KEY",
        "Encrypts credentials at rest. To rotate: a comma-separated list, newest first. Generated if absent.",
    )
    log_format: str = _setting("auto", "BATTLEBOT_LOG", "json, console, or auto (console on a terminal).")
    log_level: str = _setting("info", "BATTLEBOT_LOG_LEVEL", "debug, info, warning or error.")
    trusted_proxies: int = _setting(
        0, "BATTLEBOT_TRUSTED_PROXIES", "Number of proxies in front whose X-Forwarded-For is trusted.", 0, 10
    )
    origins: str = _setting(
        "",
        "BATTLEBOT_ORIGINS",
        "Further origins whose pages may connect and post, comma-separated; *: all.",
    )
    worker_concurrency: int = _setting(2, "BATTLEBOT_WORKER_CONCURRENCY", "Processes of one Celery worker.", 1, 64)

    bots_workers: int = _setting(
        1, "BATTLEBOT_BOTS_WORKERS", "Workers that `serve` starts to ask stateless bots.", 1, 64
    )
    bots_concurrency: int = _setting(
        100,
        "BATTLEBOT_BOTS_CONCURRENCY",
        "Matches in which one worker may ask stateless bots at the same time; half may be unrated ones.",
        2,
        10_000,
    )
    bot_matches: int = _setting(
        10, "BATTLEBOT_BOT_MATCHES", "Rated matches in which bots at one URL may be asked at the same time.", 1, 10_000
    )
    bot_answer_bytes: int = _setting(
        65_536, "BATTLEBOT_BOT_ANSWER", "Maximum bytes of a stateless bot's answer.", 256, 2**24
    )
    bot_loopback: bool | None = _setting(
        None,
        "BATTLEBOT_BOT_LOOPBACK",
        "Whether stateless bots may be on this machine; empty: under `serve`, if it has its own stores and "
        "only this machine reaches it.",
    )
    bot_networks: str = _setting(
        "", "BATTLEBOT_BOT_NETWORKS", "Private networks in which stateless bots may be: CIDR, comma-separated."
    )

    nats_url: str = _setting(
        "", "NATS_URL", "URL of the NATS server for stateless bots; empty: `serve` starts an embedded one."
    )
    nats_port: int = _setting(
        4222,
        "BATTLEBOT_NATS_PORT",
        "Port of the embedded nats-server, on this machine only; 0: no nats-server.",
        0,
        65535,
    )

    tcp_port: int = _setting(5232, "BATTLEBOT_TCP_PORT", "Port of the TCP door; 0: no TCP door.", 0, 65535)
    tcp_require_login: bool = _setting(
        False, "TCP_REQUIRE_LOGIN", "Whether players at the TCP door must be registered bots."
    )
    tcp_pairing_delay_s: float = _setting(
        0.0,
        "BATTLEBOT_TCP_PAIRING_DELAY",
        "Seconds a player at the TCP door waits before it is paired with the opponent met longest ago.",
        0,
        60,
    )
    login_timeout_s: float = _setting(10.0, "BATTLEBOT_LOGIN_TIMEOUT", "Seconds a bot has to log in.", 0.1, 600)
    waiting_timeout_s: float = _setting(
        300.0, "BATTLEBOT_WAITING_TIMEOUT", "Seconds a bot outside contests may wait for an opponent.", 0.1, 86400
    )
    turn_timeout_ms: int = _setting(
        0, "BATTLEBOT_TURN_TIMEOUT_MS", "Milliseconds per turn; 0: the game's own value (3000).", 0, 3_600_000
    )
    max_strikes: int = _setting(3, "BATTLEBOT_MAX_STRIKES", "Invalid turns after which a bot loses the match.", 1, 100)
    max_turns: int = _setting(
        200_000,
        "BATTLEBOT_MAX_TURNS",
        "Valid turns after which an unfinished match is a draw; if all move at once, for each player.",
        10,
        100_000_000,
    )
    max_record_bytes: int = _setting(
        4_194_304,
        "BATTLEBOT_MAX_RECORD",
        "Maximum bytes of one bot's turns in a match; further turns are invalid.",
        2**14,
        2**30,
    )
    node_grace_s: float = _setting(
        15.0,
        "BATTLEBOT_NODE_GRACE",
        "Seconds that a dead node's bots have to reconnect; their clocks stop meanwhile.",
        0.1,
        600,
    )
    # a heartbeat comes each second, and for two seconds after one a node acts as one that lives
    node_timeout_s: float = _setting(
        5.0, "BATTLEBOT_NODE_TIMEOUT", "Seconds without a heartbeat after which a node counts as dead.", 2, 60
    )
    close_timeout_s: float = _setting(
        2.0, "BATTLEBOT_CLOSE_TIMEOUT", "Seconds to send the last messages before a socket is cut.", 0.1, 30
    )
    max_message_bytes: int = _setting(
        16_384, "BATTLEBOT_MAX_MESSAGE", "Maximum bytes of a bot's message.", 256, 1_048_576
    )
    max_nesting: int = _setting(16, "BATTLEBOT_MAX_NESTING", "Maximum nesting depth of a bot's JSON.", 1, 100)
    max_messages_per_s: float = _setting(
        100.0,
        "BATTLEBOT_MAX_RATE",
        "Messages per second from one connection, in addition to one for each update it received.",
        1,
        1e6,
    )
    max_connections_per_bot: int = _setting(
        8, "BATTLEBOT_MAX_PER_BOT", "Maximum connections of one bot to a node.", 1, 10_000
    )
    max_connections_per_address: int = _setting(
        256,
        "BATTLEBOT_MAX_PER_ADDRESS",
        "Maximum WebSockets of one address to one node; at the TCP door, connections.",
        1,
        1_000_000,
    )
    outbox_messages: int = _setting(64, "BATTLEBOT_OUTBOX", "Messages that may be queued for a slow reader.", 2, 10_000)
    send_timeout_s: float = _setting(
        5.0, "BATTLEBOT_SEND_TIMEOUT", "Seconds one message may take to be written to a bot.", 0.1, 600
    )
    ping_interval_s: float = _setting(
        45.0,
        "BATTLEBOT_PING_INTERVAL",
        "Seconds of silence before a ping; after two unanswered ones a bot that is not on turn is closed.",
        0.5,
        600,
    )
    relogin_free: int = _setting(
        20,
        "BATTLEBOT_RELOGIN_FREE",
        "Logins without a match, within 10 s, before further replies are delayed.",
        1,
        10_000,
    )
    relogin_delay_max_s: float = _setting(
        2.0, "BATTLEBOT_RELOGIN_DELAY", "Longest delay of a login's reply, in seconds.", 0, 9
    )
    registrations_per_hour: int = _setting(
        1000,
        "BATTLEBOT_REGISTRATIONS",
        "Maximum registrations of one address per hour, and of new names that it says at the TCP door of a node.",
        1,
        1_000_000,
    )
    requests_per_minute: int = _setting(
        6000, "BATTLEBOT_REQUESTS", "Maximum HTTP requests of one address to one node per minute.", 1, 100_000_000
    )
    games_per_minute: int = _setting(
        120, "BATTLEBOT_GAMES", "Games per minute that one address may begin at the socket.io door.", 1, 100_000
    )
    contests_per_minute: int = _setting(
        30,
        "BATTLEBOT_CONTESTS",
        "Contests per minute that logins of one address may open, on all nodes together.",
        1,
        100_000,
    )
    max_body_bytes: int = _setting(
        65_536, "BATTLEBOT_MAX_BODY", "Maximum bytes of a REST request's body.", 1024, 16_777_216
    )
    max_request_line_bytes: int = _setting(
        4094, "BATTLEBOT_MAX_REQUEST_LINE", "Maximum bytes of an HTTP request's first line.", 256, 8190
    )
    max_headers: int = _setting(64, "BATTLEBOT_MAX_HEADERS", "Maximum headers of an HTTP request.", 16, 1000)
    max_header_bytes: int = _setting(
        8190, "BATTLEBOT_MAX_HEADER", "Maximum bytes of one header, with its CR LF.", 256, 65_536
    )
    header_timeout_s: float = _setting(
        5.0,
        "BATTLEBOT_HEADER_TIMEOUT",
        "Seconds for a request's headers, and between two requests of a connection.",
        0.1,
        600,
    )
    body_timeout_s: float = _setting(10.0, "BATTLEBOT_BODY_TIMEOUT", "Seconds for a request's body.", 0.1, 600)
    response_timeout_s: float = _setting(
        30.0,
        "BATTLEBOT_RESPONSE_TIMEOUT",
        "Seconds within which an HTTP client must accept a part of its response.",
        0.1,
        600,
    )
    max_connections: int = _setting(
        20_000,
        "BATTLEBOT_MAX_CONNECTIONS",
        "Maximum connections of one node; others wait to be accepted.",
        10,
        1_000_000,
    )
    max_http_per_address: int = _setting(
        512,
        "BATTLEBOT_MAX_HTTP_PER_ADDRESS",
        "Maximum connections of one address to one node beyond BATTLEBOT_MAX_PER_ADDRESS; not counted behind trusted "
        "proxies.",
        1,
        1_000_000,
    )
    max_streams: int = _setting(500, "BATTLEBOT_MAX_STREAMS", "Maximum live pages that one node updates.", 1, 1_000_000)
    max_streams_per_address: int = _setting(
        150,
        "BATTLEBOT_MAX_STREAMS_PER_ADDRESS",
        "Maximum live pages of one address that one node updates.",
        1,
        1_000_000,
    )
    contests_by_login: bool = _setting(
        True, "BATTLEBOT_CONTESTS_BY_LOGIN", "Whether a login that names an unknown contest opens it."
    )
    meetings_cap: int = _setting(5, "BATTLEBOT_MEETINGS", "Meetings per pair in contests opened by a login.", 1, 5)
    sweep_interval_s: float = _setting(1.0, "BATTLEBOT_SWEEP", "Seconds between two sweeps of Celery beat.", 0.1, 60)
    min_free_mb: int = _setting(
        200, "BATTLEBOT_MIN_FREE_MB", "Free megabytes on MongoDB's disk below which nothing new is accepted.", 0, 10**9
    )
    archive_batch: int = _setting(100, "BATTLEBOT_ARCHIVE_BATCH", "Matches archived in one transaction.", 1, 1000)


def is_private(settings: Settings) -> bool:
    """Whether only this machine reaches the web node: behind a proxy, which may be on this machine, others do too."""
    return is_loopback(settings.host) and not settings.trusted_proxies


def is_loopback(host: str) -> bool:
    """Whether this name or address is that of the very machine that uses it, and nobody else's."""
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def origins_of(settings: Settings) -> frozenset[str]:
    """The origins of `settings.origins`, in lower case."""
    return frozenset(origin.strip().lower() for origin in settings.origins.split(",") if origin.strip())


def networks_of(settings: Settings) -> list[str]:
    """The networks of `settings.bot_networks`, in CIDR form."""
    return [network.strip() for network in settings.bot_networks.split(",") if network.strip()]


def own_nats_url(settings: Settings) -> str:
    """The address of the embedded nats-server."""
    return f"nats://127.0.0.1:{settings.nats_port}"
