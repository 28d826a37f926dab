"""A Celery worker or beat, until a signal ends it, as Celery's own command would make it. Runs as a script.

That command loads all of Celery's commands, with a highlighter of code for one of them: a fifth of what a start takes.
"""

from __future__ import annotations

import socket
import sys
from argparse import ArgumentParser
from importlib import import_module
from typing import Any

from battlebot.embedded.openfiles import raise_limit


def main() -> None:
    """Run the part that the arguments name, of the application `celery` in the module that they name."""
    options = _parser().parse_args()
    celery = import_module(options.wsgi).celery
    if options.part == "beat":
        _beat(celery, options)
    else:
        _work(celery, options)


def _beat(celery: Any, options: Any) -> None:
    # it sends tasks by their names: the tasks themselves, with all that they work with, are twice what else it loads
    celery.conf.include = ()
    celery.Beat(schedule=options.schedule, quiet=True).run()


def _work(celery: Any, options: Any) -> None:
    if options.pool == "gevent":
        # each question to a bot takes a connection; a worker of processes needs few
        raise_limit()
    worker = celery.Worker(
        hostname=f"{options.name}@{socket.gethostname()}",
        queues=options.queues,
        pool=options.pool,
        concurrency=options.concurrency,
        quiet=True,
        # Workers need not know one another; discovery at the start would take a second
        without_gossip=True,
        without_mingle=True,
        # Nobody listens to heartbeats, and without Redis a worker would block until its heartbeat is sent
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(allow_abbrev=False)
    parser.add_argument("wsgi")
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("beat").add_argument("--schedule", required=True)
    worker = parts.add_parser("worker")
    worker.add_argument("--name", required=True)
    worker.add_argument("--pool", required=True)
    worker.add_argument("--concurrency", type=int, required=True)
    worker.add_argument("--queues")
    return parser


if __name__ == "__main__":
    main()
