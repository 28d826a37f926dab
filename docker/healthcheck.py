"""The container's health check: exit status 0 if the part named on the command line works, else 1 and a sentence.

It checks only this container's part; `/readyz` says whether the stores and the other parts answer.
"""

from __future__ import annotations

import http.client
import socket
import sys
import time

from battlebot.config import Settings, load_settings

TIMEOUT_S = 3.0
PING_S = 7.0  # for one Celery asks Redis some sixty times
# beat touches its file every three minutes while it runs
SCHEDULE_AGE_S = 400.0


def web(settings: Settings) -> str:
    """Returns what is wrong with the web node, or "": `GET /healthz` must answer 200."""
    from battlebot.embedded.address import reachable_host

    # not urllib, which would use a proxy from the environment
    connection = http.client.HTTPConnection(reachable_host(settings.host), settings.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"/healthz does not answer ({type(error).__name__})"
    finally:
        connection.close()
    return "" if status == http.client.OK else f"/healthz answers {status}"


def tcp(settings: Settings) -> str:
    """Returns what is wrong with the TCP door, or "": it must accept a connection."""
    from battlebot.embedded.address import reachable_host

    try:
        socket.create_connection((reachable_host(settings.host), settings.tcp_port), TIMEOUT_S).close()
    except OSError as error:
        return f"the TCP door does not answer ({type(error).__name__})"
    return ""


def worker(settings: Settings) -> str:
    """Returns what is wrong with this host's worker, or "": it must answer a ping sent through the broker."""
    from tasks.celeryapp import make_celery

    celery = make_celery(settings)
    ours = f"*@{socket.gethostname()}"
    try:
        answers = celery.control.broadcast("ping", pattern=ours, matcher="glob", reply=True, limit=1, timeout=PING_S)
    except Exception as error:
        return f"the broker does not answer ({type(error).__name__})"
    return "" if answers else "the worker does not answer"


def beat(settings: Settings) -> str:
    """Returns what is wrong with beat, or "": it must have touched its file recently."""
    try:
        age_s = time.time() - (settings.data / "celerybeat-schedule").stat().st_mtime
    except OSError:
        return "there is no schedule"
    return "" if age_s < SCHEDULE_AGE_S else f"the schedule was saved {age_s:.0f} seconds ago"


if __name__ == "__main__":
    checks = {"web": web, "tcp": tcp, "worker": worker, "beat": beat}
    if len(sys.argv) != 2 or sys.argv[1] not in checks:
        sys.exit(f"usage: healthcheck.py {'|'.join(checks)}")
    sys.exit(checks[sys.argv[1]](load_settings()) or 0)
