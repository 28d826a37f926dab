"""Whom an Internet address counts for where the server limits what one address may do. No I/O."""

from __future__ import annotations

import ipaddress

HOUSEHOLD_BITS = 64  # of IPv6: what one customer is given at least (RFC 6177), so what one sender can change at will


def household(address: str) -> str:
    """The address itself; of IPv6 its network of 64 bits. What is no address comes back as it is."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), HOUSEHOLD_BITS), strict=False))
