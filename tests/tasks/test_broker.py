"""How Celery is told of Redis: what it makes of the address, read by its own library."""

from __future__ import annotations

import ssl
import subprocess
import sys

import pytest
from kombu import Connection
from redis import BlockingConnectionPool, ConnectionPool, SSLConnection

from battlebot.config import Settings
from battlebot.config.stores import REDIS_OPTIONS, check_redis_url
from battlebot.embedded.commands import environment
from battlebot.errors import SettingError
from tasks.celeryapp import broker_url, make_celery


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("rediss://redis.example/0", ssl.CERT_REQUIRED),
        ("rediss://redis.example?ssl_ca_certs=/etc/ca.pem", ssl.CERT_REQUIRED),
        ("rediss://redis.example/0?ssl_cert_reqs=none", ssl.CERT_NONE),
    ],
)
def test_a_certificate_is_checked_unless_the_address_says_otherwise(url: str, expected: ssl.VerifyMode) -> None:
    """As the nodes do: Celery's own default is to trust every server."""
    assert Connection(broker_url(url)).ssl["ssl_cert_reqs"] == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://:secret@redis.example:6380/2", "redis://:secret@redis.example:6380/2"),
        ("redis://redis.example", "redis://redis.example/"),
        ("redis:///2", "redis://localhost/2"),
        ("redis://redis.example/1?db=3&socket_timeout=5", "redis://redis.example/3"),
        ("redis://:a%2Fb@redis.example/?db=3", "redis://:a%2Fb@redis.example/3"),
        ("unix:///run/redis.sock?db=1", "redis+socket:///run/redis.sock?virtual_host=1"),
        ("unix:///run/redis.sock?socket_timeout=5", "redis+socket:///run/redis.sock?virtual_host=0"),
    ],
)
def test_celery_gets_the_same_database_and_no_option_it_cannot_read(url: str, expected: str) -> None:
    """Its library raises TypeError for an option that it does not know."""
    assert broker_url(url) == expected
    Connection(broker_url(url))


def test_the_database_is_the_one_that_the_driver_of_the_nodes_takes() -> None:
    """An option takes precedence over the path."""
    url = "redis://redis.example/1?db=3"
    assert ConnectionPool.from_url(url).connection_kwargs["db"] == 3
    assert Connection(broker_url(url)).virtual_host == "3"


OPTIONS = {
    "client_name": "battlebot",
    "db": "3",
    "health_check_interval": "0",
    "max_connections": "32",
    "retry_on_timeout": "true",
    "socket_connect_timeout": "2",
    "socket_keepalive": "false",
    "socket_read_size": "4096",
    "socket_timeout": "2.5",
    "ssl_ca_certs": __file__,  # such files have to be there
    "ssl_ca_path": "/etc/certificates",
    "ssl_cert_reqs": "optional",
    "ssl_certfile": __file__,
    "ssl_check_hostname": "false",
    "ssl_ciphers": "HIGH",
    "ssl_keyfile": __file__,
    "ssl_password": "secret",
}
SECURITY = (
    *("cert_reqs", "check_hostname", "ca_certs", "ca_path"),
    *("certfile", "keyfile", "certificate_password", "ssl_ciphers"),
)


@pytest.mark.parametrize("begin", ["redis://redis.example", "rediss://redis.example", "unix:///run/redis.sock"])
@pytest.mark.parametrize("name", REDIS_OPTIONS)
def test_an_option_is_allowed_where_the_libraries_of_nodes_and_workers_take_it(begin: str, name: str) -> None:
    """Otherwise each would find it out by itself, in its own words. Connections are made here, and not opened."""
    url = f"{begin}?{name}={OPTIONS[name]}"
    # the limits on requests use the second kind
    pools = [BlockingConnectionPool.from_url(url), ConnectionPool.from_url(url)]
    try:
        check_redis_url(url)
    except SettingError:
        with pytest.raises(TypeError, match="unexpected keyword"):
            pools[0].make_connection()
        return
    ours, theirs = [vars(pool.make_connection()) for pool in pools], Connection(broker_url(url)).ssl
    if url.startswith("rediss:"):
        ours.append(vars(SSLConnection(**theirs)))
        assert len({tuple(one[key] for key in SECURITY) for one in ours}) == 1


ASKED = """
import wsgi
print(wsgi.celery.connection_for_read().as_uri(), wsgi.celery.connection_for_write().as_uri())
"""


def test_no_task_goes_where_anothers_celery_has_its_broker(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variables are common in the shells of those who work with Celery; it reads them before what we say."""
    for name in ("CELERY_BROKER_URL", "CELERY_BROKER_READ_URL", "CELERY_BROKER_WRITE_URL"):
        monkeypatch.setenv(name, "redis://others.example/0")
    monkeypatch.setenv("CELERY_CONFIG_MODULE", "others")
    told = subprocess.run(
        [sys.executable, "-c", ASKED], env=environment(settings), capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == [Connection(broker_url(settings.redis_url)).as_uri()] * 2


def test_who_is_no_part_of_a_server_reaches_our_broker_all_the_same(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`battlebot doctor`, and the health check of a container, are started by a shell."""
    for name in ("CELERY_BROKER_URL", "CELERY_BROKER_READ_URL", "CELERY_BROKER_WRITE_URL"):
        monkeypatch.setenv(name, "redis://127.0.0.1:1/0")
    celery = make_celery(settings)
    ours = Connection(broker_url(settings.redis_url)).as_uri()
    assert {celery.connection_for_read().as_uri(), celery.connection_for_write().as_uri()} == {ours}
