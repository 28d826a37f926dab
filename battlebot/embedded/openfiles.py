"""How many connections a part may hold: each takes one of the files that the system lets a process have open."""

from __future__ import annotations

import resource
from contextlib import suppress

OWN = 100  # files of the node's own: connections to Redis and MongoDB, and to bots that are tried
LEAST = 10


def allowed_connections(wanted: int) -> int:
    """Raises the process's limit of open files as far as the system allows; how many of `wanted` have room then.

    Beyond it a node could neither accept connections nor open its own to Redis and MongoDB.
    """
    allowed = raise_limit()
    return wanted if allowed == resource.RLIM_INFINITY else max(LEAST, min(wanted, allowed - OWN))


def raise_limit() -> int:
    """Raises the process's limit of open files as far as the system allows, and returns it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # where "unlimited" may not be asked for, the limit stays
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def few_files(allowed: int, wanted: int) -> str:
    """What to tell the operator if a node may not hold as many connections as it should; or "".

    The node's own files are passed over: whoever allows it as many files as it may have connections is content.
    """
    if allowed + OWN >= wanted:
        return ""
    room = f"room for {allowed:,} of the {wanted:,} connections of BATTLEBOT_MAX_CONNECTIONS"
    return f"The limit of open files (ulimit -Hn) leaves {room}."


def warn_of_few_files(allowed: int, wanted: int) -> None:
    """Logs what `few_files` has to tell, if it has."""
    import structlog  # not before `battlebot.logs`, which has it load less

    if sentence := few_files(allowed, wanted):
        structlog.get_logger().warning("node.few_files", reason=sentence)
