"""How Celery is told of Redis: what it makes of the address, read by its own library."""

from __future__ import annotations

import ssl

import pytest
from kombu import Connection

from tasks.celeryapp import broker_url


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


def test_other_addresses_are_as_they_were() -> None:
    """But for sockets, which Celery has a form of its own for."""
    assert broker_url("redis://:secret@redis.example:6380/2") == "redis://:secret@redis.example:6380/2"
    assert broker_url("unix:///run/redis.sock?db=1") == "redis+socket:///run/redis.sock?virtual_host=1"
