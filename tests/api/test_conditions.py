"""Conditions with dates in requests for files."""

from __future__ import annotations

import pytest
from webhouse import House

FILE = "/assets/style.css"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("name", ["If-Modified-Since", "If-Range", "If-Unmodified-Since"])
@pytest.mark.parametrize(
    "date",
    [
        "Fri, 31 Dec 99999999999 23:59:59 GMT",
        "Wed, 21 Oct 2015 07:28:00 +99999999999999999999",
        "Sat, 01 Jan 0001 00:00:00 +2300",
        "Fri, 31 Feb 2020 25:61:61 GMT",
        "yesterday",
    ],
)
def test_a_condition_that_nobody_can_read_is_none(home: House, method: str, name: str, date: str) -> None:
    """The content of a request is never the server's failure: the whole file is sent."""
    assert home.client.open(FILE, method=method, headers={name: date}).status_code == 200


def test_a_part_on_a_condition_that_nobody_can_read_is_not_sent(home: House) -> None:
    """It might be a part of another file than the one that was fetched before."""
    headers = {"If-Range": "Fri, 31 Dec 99999999999 23:59:59 GMT", "Range": "bytes=0-1"}
    assert home.client.get(FILE, headers=headers).status_code == 200


def test_a_condition_that_can_be_read_counts(home: House) -> None:
    """A file that has not changed is not sent again; of one that has not, a part."""
    date = home.client.get(FILE).headers["Last-Modified"]
    assert home.client.get(FILE, headers={"If-Modified-Since": date}).status_code == 304
    assert home.client.get(FILE, headers={"If-Range": date, "Range": "bytes=0-1"}).status_code == 206
