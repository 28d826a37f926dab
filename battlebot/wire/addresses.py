"""The unit for limits per Internet address. No I/O."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

HOUSEHOLD_BITS = 64  # IPv6: a customer gets at least a /64 (RFC 6177), so a sender can vary the other bits at will


@lru_cache(1024)
def household(address: str) -> str:
    """The key for limits: an IPv4 address itself (also if mapped into IPv6), the /64 network of an IPv6 address.

    Other text is returned unchanged.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), HOUSEHOLD_BITS), strict=False))
