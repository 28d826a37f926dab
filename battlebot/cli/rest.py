"""A small REST client: one request at a time to one server; errors become our sentences and exit statuses.

Certificates are verified against the system's store or SSL_CERT_FILE. `contest_server.py` chooses the token.
"""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import IO, Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode

import click

from battlebot.cli.output import plain
from battlebot.client.address import Address

TIMEOUT_S = 30.0  # twice the interval at which a silent stream of events sends a sign of life

_EXIT_REFUSED = 1
_EXIT_UNREACHABLE = 2
_LONGEST_ERROR = 65_536  # bytes read of an error's body
_PIECE = 65_536  # bytes of an answer that is read as it arrives


class _Failed(click.ClickException):
    """Ends the command with one line on stderr."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the line."""
        click.echo(f"battlebot: {self.format_message()}", file=file, err=True)


class RefusedByServer(_Failed):
    """The server refused; `code` is its stable slug."""

    exit_code = _EXIT_REFUSED

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(f"{sentence} ({code})")
        self.status, self.code = status, code


class Unreachable(_Failed):
    """There is no Battlebot server at the address, or its certificate is not trusted."""

    exit_code = _EXIT_UNREACHABLE


class Rest:
    """Requests to the server at `address`, with `token`, if given, as the bearer token."""

    def __init__(self, address: Address, token: str | None = None) -> None:
        self.address = address
        self._where = address.rest_url().rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._opener = address.opener()

    def get(self, *path: str, **query: object) -> Any:
        """The decoded answer to GET; each part of the path is escaped, query arguments that are None are left out."""
        return self.ask("GET", *path, query=query)

    def post(self, *path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The decoded answer to a POST of a JSON object."""
        return self.ask("POST", *path, body=body or {})

    def delete(self, *path: str) -> Any:
        """The decoded answer to DELETE."""
        return self.ask("DELETE", *path)

    def ask(
        self, method: str, *path: str, query: Mapping[str, object] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        """The decoded answer, or None if it is empty. Raises RefusedByServer, Unreachable."""
        with self.stream(method, *path, query=query, body=body) as answer, self._network_errors():
            text = answer.read()
        try:
            return json.loads(text) if text.strip() else None
        except ValueError:
            raise self.no_server_of_ours("no JSON") from None

    def no_server_of_ours(self, why: str) -> Unreachable:
        """The error for an answer that is not what a server of ours gives."""
        words = "is no Battlebot server, or one of another version"
        return Unreachable(f"What answers at {self._where} {words} ({plain(why)}).")

    @contextmanager
    def stream(
        self,
        method: str,
        *path: str,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, Any] | None = None,
        accept: str = "application/json",
    ) -> Iterator[http.client.HTTPResponse]:
        """The open answer, to be read by `chunks` or `lines` as it arrives. Raises RefusedByServer, Unreachable."""
        request = urllib.request.Request(  # noqa: S310 - parse_address lets pass http and https only
            self._url(path, query),
            data=None if body is None else json.dumps(body, ensure_ascii=False).encode(),
            headers={"Accept": accept, "Content-Type": "application/json", **self._headers},
            method=method,
        )
        with self._network_errors():
            try:
                answer = self._opener.open(request, timeout=TIMEOUT_S)
            except HTTPError as error:
                with error:
                    self._refuse(error)
        with answer:
            yield answer

    def chunks(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        """The rest of an answer, in pieces as they arrive. Raises Unreachable if it breaks off."""
        while True:
            with self._network_errors():
                piece = answer.read1(_PIECE)
                if not piece and answer.length:
                    # `read1` does not distinguish the end of the connection from the end of the body
                    raise http.client.IncompleteRead(b"", answer.length)
            if not piece:
                return
            yield piece

    def lines(self, answer: http.client.HTTPResponse) -> Iterator[str]:
        """The lines of an endless answer as they arrive. Raises Unreachable if it breaks off or falls silent."""
        while True:
            with self._network_errors():
                line = answer.readline()
            if not line:
                return
            yield line.decode(errors="replace").rstrip("\r\n")

    @contextmanager
    def _network_errors(self) -> Iterator[None]:
        try:
            yield
        except URLError as error:
            self._unreachable(error.reason)
        except (OSError, http.client.HTTPException) as error:
            self._unreachable(error)

    def _unreachable(self, reason: object) -> NoReturn:
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise Unreachable(f"The certificate of {self._where} is not trusted: {reason.verify_message}.") from None
        if isinstance(reason, http.client.IncompleteRead):
            raise Unreachable(f"{self._where} broke off in the middle of its answer.") from None
        said = plain(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__)
        raise Unreachable(f"Nobody answers at {self._where}: {said}.") from None

    def _refuse(self, error: HTTPError) -> NoReturn:
        status = error.code
        if 300 <= status < 400:
            where = error.headers.get("Location", "nowhere")
            raise Unreachable(f"The server redirects to {plain(where)}: give that server as --server.")
        try:
            body = json.loads(error.read(_LONGEST_ERROR))
            sentence, code = str(body["error"]), str(body["code"])
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
            sentence, code = f"The server answered {status} {_phrase(status)}.", f"http-{status}"
        raise RefusedByServer(status, plain(code), plain(sentence)) from None

    def _url(self, path: tuple[str, ...], query: Mapping[str, object] | None) -> str:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        return self.address.rest_url(*path) + (f"?{urlencode(given)}" if given else "")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(a status of its own)"
