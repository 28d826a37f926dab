"""Acknowledgements that the system would delay: on Linux by some 40 ms, on the clock of whoever waits for them."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any


def acknowledge(sock: Any) -> None:
    """Has the system acknowledge at once what a socket has received, where it can (Linux). Call it if more must follow.

    Many libraries write a message's head and body by themselves, without TCP_NODELAY: their system holds the body back
    until the head is acknowledged. `sock` is a socket, or has its `setsockopt`.
    """
    if hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
