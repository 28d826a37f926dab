"""Loads socket.io's servers without what only their clients use; a process with such clients must not do so."""

from __future__ import annotations

from importlib import import_module

from battlebot.runtime.bare import without


def load_lean_servers() -> None:
    """Import the servers so that they use 170 modules less. Call in a node before it imports `app`."""
    # valkey is for servers that share their rooms by such a store
    with without("requests", "valkey", "websocket"):
        for name in ("engineio.async_drivers.threading", "socketio", "socketio2.socketio"):
            import_module(name)
