"""wsgi.py for a web node whose event loop blocks for ever from the first request for /hang on."""

from __future__ import annotations

from typing import Any

from gevent import monkey

import wsgi

FOR_EVER_S = 3600.0

_block = monkey.get_original("time", "sleep")


def __getattr__(name: str) -> Any:
    value = getattr(wsgi, name)
    if name == "application":
        value.add_url_rule("/hang", "hang", lambda: _block(FOR_EVER_S))
    return value
