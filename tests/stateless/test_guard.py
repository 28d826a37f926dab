"""Where the server lets itself be sent: public addresses, what the operator names, and nothing by a trick."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import pytest
from httpbots import Bots

from battlebot.errors import BadAddress
from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import CONTROL_NAME, Guard, Unresolved
from battlebot.stateless.http.location import location_of

Resolve = Callable[[dict[str, Any]], list[str]]

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]

PRIVATE = [
    *("127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "198.18.0.1", "192.0.0.9", "192.0.2.1", "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::1", "::", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1", "fec0::1", "2001:db8::1", "3fff::1", "100::1"),
    # an IPv4 address within: mapped, compatible, NAT64, its local form, 6to4, Teredo, ISATAP under a private prefix
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::808:808", "2002:7f00:1::", "2002:808:808::1", "2001:0:808:808::1", "fe80::5efe:7f00:1", "5f00::1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_permitted(address: str) -> None:
    """Also where IPv6 stands for a public IPv4 address."""
    assert Guard().permits(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PRIVATE)
def test_all_others_are_not(address: str) -> None:
    """This machine, its neighbours, its provider's, what is reserved; in whatever form."""
    assert not Guard().permits(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
def test_an_operator_may_allow_this_machine(address: str) -> None:
    """And then this machine alone."""
    guard = Guard(loopback=True)
    assert guard.permits(ipaddress.ip_address(address))
    assert not guard.permits(ipaddress.ip_address("10.0.0.1"))
    assert not guard.permits(ipaddress.ip_address("0.0.0.0"))


def test_an_operator_may_allow_networks() -> None:
    """Those and no others."""
    guard = Guard(networks=["10.1.0.0/16", "fd00::/8"])
    permitted = ["10.1.255.1", "::ffff:10.1.0.1", "fd00::7", "8.8.8.8"]
    refused = ["10.2.0.1", "fc00::1", "127.0.0.1"]
    assert [address for address in permitted + refused if guard.permits(ipaddress.ip_address(address))] == permitted


def test_the_address_within_an_address_is_the_one_that_is_looked_at() -> None:
    """All 32 bits of it."""
    guard = Guard(networks=["10.1.0.1/32"])
    for prefix in ("64:ff9b::", "::ffff:"):
        assert guard.permits(ipaddress.ip_address(f"{prefix}10.1.0.1"))
        assert not guard.permits(ipaddress.ip_address(f"{prefix}10.1.0.0"))


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """Makes names resolve as a table says: name -> addresses, an error, or a list of those for one call each.

    The list that it answers is filled with the names that were asked for.
    """
    real = socket.getaddrinfo

    def use(table: dict[str, Any]) -> list[str]:
        asked: list[str] = []

        def answer(host: str, port: Any, *arguments: Any, **named: Any) -> Any:
            if host not in table:
                return real(host, port, *arguments, **named)
            asked.append(host)
            found = table[host]
            if isinstance(found, list):
                found = found.pop(0) if len(found) > 1 else found[0]
            if isinstance(found, Exception):
                raise found
            return [
                (socket.AF_INET6 if ":" in text else socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port))
                for text in found.split()
            ]

        monkeypatch.setattr(socket, "getaddrinfo", answer)
        return asked

    return use


NAMES = ["127.0.0.1", "10.0.0.1 192.168.0.1", "::1", "fe80::1%1", "::ffff:127.0.0.1", "169.254.169.254"]


@pytest.mark.parametrize("addresses", NAMES)
def test_a_name_of_private_addresses_is_refused(resolve: Resolve, addresses: str) -> None:
    """And what it resolves to is told to nobody."""
    resolve({"bots.example": addresses})
    with pytest.raises(BadAddress) as refused:
        Guard().addresses("bots.example", 80)
    assert not any(address in str(refused.value) for address in addresses.split())
    assert refused.value.details["field"] == "url"


def test_of_a_name_only_what_is_permitted_is_left(resolve: Resolve) -> None:
    """In the order of the resolver's answer."""
    resolve({"bots.example": "10.0.0.1 8.8.8.8 127.0.0.1 2606:4700::1111"})
    found = Guard().addresses("bots.example", 80)
    assert [address for _, address in found] == ["8.8.8.8", "2606:4700::1111"]


def asked(bots: Bots, url: str, guard: Guard) -> Any:
    """What becomes of a question."""
    content = {"gameInfo": {"numOfTasksPerTick": 1}}
    return HttpBots(guard, 65_536, 16).ask(Question(url, "battlecube", "match", "bot", content, 5.0))


def test_a_name_that_changes_its_mind_is_asked_once(resolve: Resolve, bots: Bots) -> None:
    """What was checked is what is connected to: a second answer, of a private address, would never be seen."""
    names = resolve({"bots.example": ["127.0.0.1", "10.0.0.1", "10.0.0.1"]})
    reply = asked(bots, f"http://bots.example:{bots.server_port}/good", Guard(loopback=True))
    assert reply.value == [{"task": "NOOP"}]
    assert names == ["bots.example"]
    assert bots.headers["good"]["Host"] == f"bots.example:{bots.server_port}"


def test_a_name_that_turns_private_is_not_connected_to(resolve: Resolve, bots: Bots) -> None:
    """At the test of its registration it was public; now it is this machine."""
    resolve({"bots.example": "127.0.0.1"})
    reply = asked(bots, f"http://bots.example:{bots.server_port}/good", Guard())
    assert (reply.failure.code, bots.connections) == ("bad-address", 0)


def test_whom_the_system_connects_to_instead_is_asked_nothing(bots: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems take one address for another, as 0.0.0.0 for this machine: the peer is looked at once more."""
    monkeypatch.setattr(Guard, "addresses", lambda *_: [(socket.AF_INET, "0.0.0.0")])
    reply = asked(bots, f"http://bots.example:{bots.server_port}/good", Guard(networks=["0.0.0.0/32"]))
    assert (reply.failure.code, bots.asked["good"]) == ("bad-address", 0)


OLD_FORMS = ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.1", "0x7f.0.0.1", "0", "1.2.3.08", "1.2.3.4.5"]


@pytest.mark.parametrize("host", OLD_FORMS)
def test_the_old_forms_of_addresses_are_none(host: str) -> None:
    """Decimal, octal, hexadecimal, short: the system's resolver would take them for this machine."""
    with pytest.raises(BadAddress):
        location_of(f"http://{host}/")


BAD = [
    "http://user@bots.example/",
    "http://user:password@bots.example/",
    "http://bots.example@127.0.0.1/",
    "http:///path",
    "http://",
    "//bots.example/",
    "ftp://bots.example/",
    "file:///etc/passwd",
    "gopher://bots.example/",
    "http://bots.example:0/",
    "http://bots.example:99999/",
    "http://bots.example:x/",
    "http://bots.example:65536/",
    "http://bots.example:22/",
    "http://bots.example:1023/",
    "http://bots.example:25/",
    "http://bots.example:6379/",
    "http://bots.example:27017/",
    "http://bots.example/#fragment",
    "http://bots.example/\r\nX-Injected: 1",
    "http://bots.example/a b",
    "http://bots.example\\@127.0.0.1/",
    "http://bots.exa\x00mple/",
    "http://b\u00f6ts.example/",
    "http://bots.example/\u2028",
    "http://[fe80::1%25eth0]/",
    "http://[::1/",
    "http://::1/",
    "http://[v1.x]/",
    "http://[bots.example]/",
    "http://[127.0.0.1]/",
    "http://[]/",
    "http://[::1]bots.example/",
    "http://bots.example[::1]/",
    "http://bots.example:00080/",
    "http://bots.example:08080/",
    "http://bots.example:/",
    "http://[2606:4700::1111]:/",
    "http://:80/",
    "http://bots..example/",
    "http://-bots.example/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 123 + "examples/",
    "http://bots.example/" + "a" * 2029,
    "http://bots-.example/",
    "http://bots.example:8080:80/",
    "http://1.2.3.4.example.5/",
]


@pytest.mark.parametrize("address", BAD)
def test_what_two_readers_could_read_in_two_ways_is_no_address(address: str) -> None:
    """Refused with a sentence, before anything is resolved."""
    with pytest.raises(BadAddress) as refused:
        location_of(address)
    assert refused.value.details["field"] == "url"


GOOD = [
    ("http://bots.example", (False, "bots.example", 80, "bots.example", "/")),
    ("https://Bots.Example./a?b=c&d", (True, "bots.example", 443, "bots.example", "/a?b=c&d")),
    ("http://bots.example:8080/", (False, "bots.example", 8080, "bots.example:8080", "/")),
    ("https://[2606:4700::1111]:8443/x", (True, "2606:4700::1111", 8443, "[2606:4700::1111]:8443", "/x")),
    ("http://xn--bts-sna.example/", (False, "xn--bts-sna.example", 80, "xn--bts-sna.example", "/")),
    ("http://bots.example:80/", (False, "bots.example", 80, "bots.example", "/")),
    ("http://8.8.8.8./", (False, "8.8.8.8", 80, "8.8.8.8", "/")),
    ("http://bots.example:1024/", (False, "bots.example", 1024, "bots.example:1024", "/")),
    ("http://bots.example:65535/", (False, "bots.example", 65535, "bots.example:65535", "/")),
    ("https://a.B-c.example?d", (True, "a.b-c.example", 443, "a.b-c.example", "/?d")),
    ("http://my_bot.example:443/", (False, "my_bot.example", 443, "my_bot.example:443", "/")),
]


@pytest.mark.parametrize(("address", "location"), GOOD)
def test_an_address_is_taken_apart(address: str, location: tuple[Any, ...]) -> None:
    """TLS, host, port, Host header, target."""
    assert location_of(address) == location


@pytest.mark.parametrize(
    "address",
    [
        "http://bots.example/" + "a" * 2028,
        "http://" + "a" * 63 + ".example/",
        "http://" + "a." * 123 + "example/",
    ],
    ids=["address", "label", "name"],
)
def test_an_address_may_be_as_long_as_this(address: str) -> None:
    """2048 characters; 63 of a label and 253 of a name, as DNS has it."""
    assert location_of(address).name in address


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/", "http://[::1]:8000/", "http://[::ffff:10.0.0.1]/"])
def test_an_address_of_digits_is_refused_before_anybody_is_asked(url: str) -> None:
    """Names only when they are resolved."""
    with pytest.raises(BadAddress):
        HttpBots(Guard(), 65_536, 16).check(url)


def test_a_name_that_is_none_is_the_bots_own_failure(resolve: Resolve) -> None:
    """As is one whose own name server fails, while others are found; whether they are matters to this alone."""
    found, down = "198.41.0.4", socket.gaierror(socket.EAI_AGAIN, "no")
    for code, control in ((socket.EAI_NONAME, found), (socket.EAI_NONAME, down), (socket.EAI_AGAIN, found)):
        resolve({"bots.example": socket.gaierror(code, "no"), CONTROL_NAME: control})
        with pytest.raises(Unresolved) as failed:
            Guard().addresses("bots.example", 80)
        assert not failed.value.ours


def test_where_no_name_can_be_resolved_it_is_the_servers_failure(resolve: Resolve) -> None:
    """It costs no bot its match."""
    again = socket.gaierror(socket.EAI_AGAIN, "no")
    names = resolve({"bots.example": again, "other.example": again, CONTROL_NAME: again})
    guard = Guard()
    for name in ("bots.example", "other.example"):
        with pytest.raises(Unresolved) as failed:
            guard.addresses(name, 80)
        assert failed.value.ours
    assert names == ["bots.example", CONTROL_NAME, "other.example"]


def test_where_it_cannot_be_found_out_it_is_the_servers_failure(resolve: Resolve) -> None:
    """No file is left to be opened for the question whether other names are found."""
    full = OSError(errno.EMFILE, "no")
    resolve({"bots.example": socket.gaierror(socket.EAI_AGAIN, "no"), CONTROL_NAME: full})
    with pytest.raises(Unresolved) as failed:
        Guard().addresses("bots.example", 80)
    assert failed.value.ours


def test_what_this_machine_lacks_is_no_bots_failure(
    resolve: Resolve, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resolver, file descriptors; but a bot that refuses its connections has failed itself."""
    again, full = socket.gaierror(socket.EAI_AGAIN, "no"), OSError(errno.EMFILE, "no")
    resolve({"bots.example": again, CONTROL_NAME: again, "other.example": full})
    failures = [asked(bots, f"http://{name}.example/", Guard()).failure for name in ("bots", "other")]
    for lacking in (errno.EMFILE, errno.ECONNREFUSED):

        def connect(*_: Any, code: int = lacking) -> None:
            raise OSError(code, "no")

        with monkeypatch.context() as patched:
            patched.setattr(socket.socket, "connect", connect)
            failures.append(asked(bots, bots.url("good"), Guard(loopback=True)).failure)
    assert [(failure.code, failure.ours) for failure in failures] == [
        *[("unresolved", True)] * 2,
        ("server", True),
        ("unreachable", False),
    ]
