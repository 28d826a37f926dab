"""What a page of another site can make a browser do to the server: nothing that changes anything, and no WebSocket."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

import pytest
from client import Raw, ask
from cluster import Cluster, Web
from original_client import OriginalClient
from peer import new_name
from switchboard import Switchboard

from battlebot.api.origins import same_host

EVIL = "Origin: https://evil.example"
UPGRADE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
)


def upgrade(web: Web, *headers: str, path: str = "/") -> int:
    """The status with which the node answers an upgrade."""
    with Raw(web.address) as raw:
        raw.send(f"GET {path} HTTP/1.1", f"Host: {web.address}", *UPGRADE, *headers)
        return raw.answer().status


def register(web: Web, *headers: str) -> int:
    """The status with which the node answers a registration."""
    return ask(web.address, "/bots/numberwang", *headers, method="POST", body={"bot_id": new_name()}).status


@pytest.mark.parametrize("path", ["/", "/ws"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "nonsense", "http://[", ""]
)
def test_a_page_of_another_origin_opens_no_websocket(web: Web, origin: str, path: str) -> None:
    """403, whatever the path."""
    assert upgrade(web, f"Origin: {origin}", path=path) == 403


@pytest.mark.parametrize(
    "origin", ["http://localhost/", "http://127.0.0.1", "http://127.0.0.1:1", "https://[::1]:8080"]
)
def test_a_library_that_sends_an_origin_on_its_own_machine_opens_a_websocket(web: Web, origin: str) -> None:
    """As Go's does in its documentation's example, whatever the server; but a form with that origin changes nothing."""
    assert upgrade(web, f"Origin: {origin}") == 101
    assert register(web, f"Origin: {origin}") == 403


def test_programs_and_pages_of_our_own_open_websockets(web: Web) -> None:
    """Programs send no Origin; some libraries send the one of the address that they connect to."""
    assert upgrade(web) == 101
    assert upgrade(web, f"Origin: http://{web.address}") == 101
    # TLS may end at a proxy
    assert upgrade(web, f"Origin: https://{web.address}") == 101


def test_a_machines_name_may_have_what_names_of_the_internet_have_not(web: Web) -> None:
    """As Docker's: `Host` has it as the `Origin` of a bot's library, and the pages say what to connect to."""
    headers = ("Host: battle_web:3000", "Origin: http://battle_web:3000")
    with Raw(web.address) as raw:
        raw.send("GET / HTTP/1.1", *headers, *UPGRADE)
        assert raw.answer().status == 101
    with Raw(web.address) as raw:
        raw.send("GET / HTTP/1.1", *headers)
        assert "http://battle_web:3000/" in raw.answer().body.decode()
    with Raw(web.address) as raw:
        raw.send("GET / HTTP/1.1", headers[0], "Origin: http://evil_web:3000", *UPGRADE)
        assert raw.answer().status == 403


def test_an_original_client_with_its_library_that_sends_an_origin_plays(web: Web, meet: Switchboard) -> None:
    """The original's WebSocket library sends `Origin` unasked."""
    other = meet.login(meet.auth())
    client = OriginalClient(web.ws, meet.auth(), lambda state: {"n": 10}, limit_s=20)
    thread = threading.Thread(target=client.play_once)
    thread.start()
    if other.update()["state"]["nextPlayer"] == other.bot:
        other.send({"n": 10})
    assert other.final()["state"]["reason"] == "complete"
    thread.join(20)
    assert not client.errors


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_a_form_of_another_origin_changes_nothing(web: Web, kind: str) -> None:
    """Whatever type it claims: a form may send without asking first only what JSON's reader would take as well."""
    assert register(web, EVIL, f"Content-Type: {kind}") == 403
    assert register(web, "Origin: null", f"Content-Type: {kind}") == 403


def test_a_program_and_a_page_of_our_own_may_register(web: Web) -> None:
    """With no Origin, or with ours."""
    assert register(web) == 201
    assert register(web, f"Origin: http://{web.address}") == 201


@pytest.fixture(scope="module")
def node_with(servers: Cluster) -> Callable[..., Web]:
    """Returns a function: settings -> a web node with them, the same one for the same settings."""
    return cache(servers.web)


def test_a_page_whose_name_was_made_to_resolve_to_this_machine_registers_nothing(
    node_with: Callable[..., Web], web: Web
) -> None:
    """DNS rebinding: to the browser such a page is of the server's own origin. One that others reach has many names."""

    def status(node: Web, path: str, method: str) -> int:
        with Raw(node.address) as raw:
            raw.send(f"{method} {path} HTTP/1.1", "Host: evil.example:3000", "Origin: http://evil.example:3000")
            return raw.answer().status

    assert status(web, "/bots/numberwang", "DELETE") == 403
    assert status(web, "/socket.io/?EIO=4&transport=polling", "GET") == 403
    assert status(web, "/bots/numberwang", "GET") == 200
    assert status(node_with(host="0.0.0.0"), "/bots/numberwang", "DELETE") == 405
    assert status(node_with(trusted_proxies=1), "/bots/numberwang", "DELETE") == 405
    assert status(node_with(origins="http://evil.example:3000"), "/bots/numberwang", "DELETE") == 405


ELSEWHERE = "https://evil.example, http://battle_web:3000"


@pytest.mark.parametrize(
    ("settings", "host", "expected"),
    [
        ({}, "evil.example:3000", 403),
        ({}, "localhost.:3000", 200),
        ({}, "127.0.0.1:3000", 200),
        ({"trusted_proxies": 1}, "evil.example", 200),
        ({"origins": ELSEWHERE}, "evil.example", 200),
        ({"origins": ELSEWHERE}, "battle_web:3000", 200),
    ],
)
def test_a_get_of_a_page_of_a_rebound_name_opens_no_polling_session(
    node_with: Callable[..., Web], settings: dict[str, object], host: str, expected: int
) -> None:
    """Browsers send no `Origin` with a page's GET to its own server, and over HTTP no Sec-Fetch-Site: `Host` tells."""
    node = node_with(**settings)
    with Raw(node.address) as raw:
        raw.send("GET /socket.io/?EIO=4&transport=polling HTTP/1.1", f"Host: {host}")
        assert raw.answer().status == expected


def test_a_viewer_under_a_proxys_name_is_told_what_to_set(web: Web) -> None:
    """Also under the name of a group of servers, which nginx sends by itself."""
    with Raw(web.address) as raw:
        raw.send("GET /socket.io/?EIO=4&transport=polling HTTP/1.1", "Host: battle_servers")
        assert "BATTLEBOT_TRUSTED_PROXIES" in raw.answer().body.decode()


def test_what_is_refused_under_a_proxys_name_says_what_to_set(servers: Cluster) -> None:
    """To the visitor, and once a minute in the log."""
    node = servers.web()
    for _ in range(2):
        with Raw(node.address) as raw:
            host = "Host: battles.example"
            raw.send("POST /bots/numberwang HTTP/1.1", host, "Origin: https://battles.example", "Content-Length: 0")
            assert "BATTLEBOT_TRUSTED_PROXIES" in raw.answer().body.decode()
    (line,) = [line for line in node.log.read_text().splitlines() if "origin.refused" in line]
    assert "BATTLEBOT_TRUSTED_PROXIES" in line
    assert "https://battles.example" in line


def test_pages_of_other_origins_may_read_what_everybody_may(web: Web) -> None:
    """Rankings may be shown elsewhere; there are no cookies that could make an answer somebody's own."""
    answer = ask(web.address, "/bots/numberwang", EVIL)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert "access-control-allow-credentials" not in answer.headers
    assert "set-cookie" not in answer.headers


def test_an_organisers_token_is_not_for_pages_of_other_origins(web: Web) -> None:
    """A browser asks before it sends `Authorization` for another origin; the answer allows nothing."""
    path = "/games/numberwang/contests"
    asked = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
    answer = ask(web.address, path, EVIL, *asked, method="OPTIONS")
    assert not [name for name in answer.headers if name.startswith("access-control-allow")]
    assert ask(web.address, path, EVIL, "Authorization: Bearer x", method="POST", body={}).status == 403


@pytest.mark.parametrize(
    ("setting", "allowed", "refused"),
    [
        ("https://pages.example, http://localhost:8000", ["https://pages.example", "HTTP://localhost:8000"], ["null"]),
        ("*", ["https://evil.example", "null"], []),
    ],
)
def test_further_origins_are_the_operators_to_allow(
    servers: Cluster, setting: str, allowed: list[str], refused: list[str]
) -> None:
    """BATTLEBOT_ORIGINS."""
    node = servers.web(origins=setting)
    for origin in allowed:
        assert (upgrade(node, f"Origin: {origin}"), register(node, f"Origin: {origin}")) == (101, 201)
    for origin in refused:
        assert (upgrade(node, f"Origin: {origin}"), register(node, f"Origin: {origin}")) == (403, 403)


SAME: list[tuple[str, str, bool]] = [
    ("https://a.example", "a.example", True),
    ("https://a.example", "a.example:443", True),
    ("https://a.example:443", "a.example", True),
    ("http://a.example:80", "A.EXAMPLE", True),
    ("http://a.example", "a.example:443", True),
    ("http://a.example:443", "a.example", True),
    ("http://a.example:443", "b.example", False),
    ("http://a.example:8080", "a.example", False),
    ("http://a.example", "a.example:8080", False),
    ("http://a.example:8443", "a.example:443", False),
    ("http://443", "80", False),
    ("ws://a.example:3000", "a.example:3000", True),
    ("wss://a.example", "a.example", True),
    ("ws://a.example.evil", "a.example", False),
    ("http://[::1]:443", "[::1]", True),
    ("http://[::1]:3000", "[::1]:3000", True),
    ("http://a.example.evil", "a.example", False),
    ("file://", "", False),
    ("null", "null", False),
    ("ftp://a.example", "a.example", False),
]


@pytest.mark.parametrize(("origin", "host", "same"), SAME)
def test_an_origin_is_ours_if_host_and_port_are(origin: str, host: str, same: bool) -> None:
    """The standard ports may be left out on either side, whichever the scheme."""
    assert same_host(origin, host) is same


@pytest.fixture
def page(web: Web) -> Callable[[str], str]:
    """The text of a page, after a look at its headers."""

    def get(path: str) -> str:
        answer = ask(web.address, path)
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        return answer.body.decode()

    return get


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/web/numberwang", "/web/noughtsandcrosses", "/web/chess", "/nowhere", "/bots/numberwang"]
)
def test_every_answer_forbids_what_it_does_not_need(page: Callable[[str], str], path: str) -> None:
    """And no page has what the policy forbids: scripts and styles within it, handlers in its tags."""
    text = page(path).lower()
    if text.startswith("<!doctype"):
        assert "<script" not in text.replace('<script type="module" src="/assets/', "")
        assert "<style" not in text
        assert " style=" not in text
        assert "javascript:" not in text
        assert " on" not in {tag[:3] for tag in _attributes(text)}


def _attributes(text: str) -> list[str]:
    return [f" {part.lstrip()}" for tag in text.split("<")[1:] for part in tag.partition(">")[0].split()[1:]]


def test_a_name_with_markup_in_it_is_text_on_every_page(web: Web, page: Callable[[str], str]) -> None:
    """A name may hold what it likes of ASCII."""
    name = f"<img src=x onerror=alert(1)>{new_name('')[:9]}"
    assert web.request("/bots/numberwang", {"bot_id": name, "owner": "<script>"})[0] == 201
    text = page("/web/numberwang")
    assert "&lt;img" in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;" in text
