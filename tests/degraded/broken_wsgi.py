"""wsgi.py for a worker whose Redis driver fails once with an error that Celery takes for one of the program."""

from __future__ import annotations

from typing import Any

from kombu.transport.redis import Channel

import wsgi

_read = Channel._brpop_read
_failed: list[bool] = []


def _read_or_fail(channel: Channel, **options: Any) -> Any:
    if not _failed:
        _failed.append(True)
        channel.client.connection.disconnect()
        raise AttributeError("'NoneType' object has no attribute 'of this test'")
    return _read(channel, **options)


Channel._brpop_read = _read_or_fail


def __getattr__(name: str) -> Any:
    return getattr(wsgi, name)
