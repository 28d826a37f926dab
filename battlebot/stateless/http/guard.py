"""Which network addresses the server may be made to connect to: public ones, and those the operator allows.

A name is resolved once per connection, and the address that was checked is the one connected to, so that DNS rebinding
gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Sequence

from battlebot.errors import BadAddress, without_traceback

Internet = ipaddress.IPv4Address | ipaddress.IPv6Address

PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")  # what IANA allocates as global unicast
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: contains an IPv4 address, to which a router translates
TUNNELS = tuple(map(ipaddress.IPv6Network, ("2002::/16", "2001::/32")))  # 6to4, Teredo: lead to an IPv4 address
NEVER_V6 = (*TUNNELS, ipaddress.IPv6Network("3fff::/20"))  # the last is for documentation, RFC 9637
# 6to4 relays (RFC 7526) and IETF protocol assignments, some of which Python counts as public
NEVER_V4 = tuple(map(ipaddress.IPv4Network, ("192.88.99.0/24", "192.0.0.0/24")))

MOST_ADDRESSES = 16  # of a name: a try that fails at once lets nobody else run, and a name may have thousands

CONTROL_NAME = "a.root-servers.net"  # resolves as long as DNS works
CONTROLLED_S = 5.0  # how long a failure to resolve it is remembered


class Unresolved(Exception):
    """A name cannot be resolved now. `ours`: no other name can be either."""

    def __init__(self, sentence: str, ours: bool) -> None:
        super().__init__(sentence)
        self.ours = ours


class Guard:
    """`loopback`: whether this machine itself is allowed. `networks`: further allowed networks, in CIDR form."""

    def __init__(self, loopback: bool = False, networks: Sequence[str] = ()) -> None:
        self._networks = [ipaddress.ip_network(network) for network in networks]
        if loopback:
            self._networks += [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
        self._dns_failed_s = float("-inf")

    def permits(self, address: Internet) -> bool:
        """Whether a connection to this very address may be made."""
        inner = embedded(address)
        if inner is not None:
            # the connection ends at the embedded address
            return self.permits(inner)
        if any(address in network for network in self._networks):
            return True
        return is_public(address)

    def addresses(self, host: str, port: int) -> list[tuple[int, str]]:
        """Returns the family and the text of each permitted address of the host's first `MOST_ADDRESSES`; never empty.

        Raises BadAddress if none of its addresses is permitted, Unresolved if it has no address.
        """
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        except (OSError, UnicodeError) as error:
            # gevent's calls in its traceback hold it in turn: all would stay in memory until the collector runs
            without_traceback(error)
            raise Unresolved(f"The name {host} could not be resolved.", self._is_ours(error)) from None
        found = list(dict.fromkeys((int(row[0]), str(row[4][0])) for row in rows[:MOST_ADDRESSES]))
        allowed = [(family, text) for family, text in found if "%" not in text and self.permits(_parsed(text))]
        if not allowed:
            raise forbidden(host)
        return allowed

    def _is_ours(self, error: Exception) -> bool:
        if isinstance(error, OSError) and not isinstance(error, socket.gaierror):
            # this machine's own error, such as that no further file can be opened
            return True
        return getattr(error, "errno", None) in (socket.EAI_AGAIN, socket.EAI_MEMORY) and self._dns_is_down()

    def _dns_is_down(self) -> bool:
        """Whether DNS fails on this machine as a whole: a bot whose own name server fails must not gain by it."""
        if time.monotonic() - self._dns_failed_s < CONTROLLED_S:
            return True
        try:
            socket.getaddrinfo(CONTROL_NAME, 53)
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                self._dns_failed_s = time.monotonic()
                return True
        except OSError:
            # no further file can be opened
            return True
        return False


def forbidden(host: str) -> BadAddress:
    """The error for a host that may not be connected to; it does not reveal what the host resolves to."""
    return BadAddress(f"The server may not connect to {host}: only public addresses are allowed here.", field="url")


def is_public(address: Internet) -> bool:
    """Whether the address is on the public Internet, by IANA's registries and a few further exclusions."""
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in NEVER_V4)
    return address in PUBLIC_V6 and not any(address in network for network in NEVER_V6)


def embedded(address: Internet) -> ipaddress.IPv4Address | None:
    """The IPv4 address that the system or a router translates an IPv6 address to; None if there is none."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _parsed(text: str) -> Internet:
    return ipaddress.ip_address(text)
