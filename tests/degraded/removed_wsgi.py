"""wsgi.py of a node from whose games/ numberwang has been removed."""

from __future__ import annotations

from typing import Any

from battlebot.rules import registry

_discover = registry.discover


def discover() -> registry.Registry:
    """Finds the other games."""
    return registry.Registry({name: game for name, game in _discover().items() if name != "numberwang"})


registry.discover = discover


def __getattr__(name: str) -> Any:
    import wsgi

    return getattr(wsgi, name)
