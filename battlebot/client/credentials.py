"""A bot's credentials: registration over REST, and the auth file that keeps them."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import ssl
import tempfile
import urllib.error
import urllib.request
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from battlebot.client.address import Address, parse_address
from battlebot.client.arguments import check_arguments
from battlebot.client.errors import BadCredentials, Refused, Unreachable

LONGEST_FILE = 65_536  # characters of an auth file
REQUEST_TIMEOUT_S = 30.0  # the server may wait for its database; whoever left before would never learn the pass_hash


@dataclass(frozen=True)
class Credentials:
    """What a bot logs in with. The fields are the keys of the auth file, as in the original client."""

    game: str
    bot_id: str
    pass_hash: str = field(repr=False)  # a secret: never in a log
    hostname: str = ""

    def save(self, path: str | Path) -> None:
        """Write the auth file, readable by its owner alone (mode 0600), replacing an existing one. Raises OSError."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        body = {"game": self.game, "pass_hash": self.pass_hash, "hostname": self.hostname, "bot_id": self.bot_id}
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # created with mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(body, indent=2) + "\n")
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def check(self, game: str, bot_id: str | None = None, path: str | Path | None = None) -> None:
        """Raise BadCredentials if they are for another game or another bot; `path` is their auth file."""
        these = "These credentials are" if path is None else f"The auth file {path} is"
        if self.game != game:
            raise BadCredentials(f"{these} for {self.game}, not for {game}.")
        if bot_id is not None and self.bot_id != bot_id:
            raise BadCredentials(f"{these} for the bot {self.bot_id!r}, not for {bot_id!r}.")

    @classmethod
    def load(cls, path: str | Path) -> Credentials:
        """Read an auth file. Raises BadCredentials, which names the file and what is wrong with it."""
        try:
            with Path(path).open(encoding="utf-8") as file:
                text = file.read(LONGEST_FILE + 1)
            if len(text) > LONGEST_FILE:
                raise ValueError(f"it has more than {LONGEST_FILE} characters")
            body = json.loads(text)
        except (OSError, ValueError, RecursionError) as error:
            raise BadCredentials(f"Cannot read the auth file {path}: {error}.") from None
        return cls(
            **_strings(body, f"The auth file {path}", BadCredentials, "game", "bot_id", "pass_hash", hostname="")
        )


def register(
    host: str, game: str, bot_id: str, owner: str | None = None, *, tls: ssl.SSLContext | None = None
) -> Credentials:
    """Register a bot and return its credentials. Save them: the server never shows them again.

    Raises BadAddress, Unreachable, or Refused with the server's code (`name-taken`, `unknown-game`, `bad-name`),
    TypeError for an argument of another type.
    """
    check_arguments(host=host, game=game, bot_id=bot_id, owner=owner, tls=tls)
    address = parse_address(host)
    body = {"bot_id": bot_id} if owner is None else {"bot_id": bot_id, "owner": owner}
    request = urllib.request.Request(  # noqa: S310 - parse_address lets no other scheme through
        address.rest_url("bots", game), json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    answer = _answer(request, address, tls)
    texts = _strings(answer, f"The answer of {request.full_url}", Unreachable, "game", "bot_id", "pass_hash")
    return Credentials(**texts, hostname=address.netloc)


def load_or_register(
    path: str | Path,
    host: str,
    game: str,
    bot_id: str,
    owner: str | None = None,
    *,
    tls: ssl.SSLContext | None = None,
) -> Credentials:
    """Load the credentials from the auth file at `path`; if there is none, register the bot and save them there.

    Raises BadCredentials, also if the file is another bot's or for another game, OSError, and what `register` raises.
    """
    if Path(path).exists():
        kept = Credentials.load(path)
        kept.check(game, bot_id, path)
        return kept
    # check the folder before the registration takes the name on the server
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if not os.access(Path(path).parent, os.W_OK):
        raise BadCredentials(f"Cannot write the auth file {path}: its folder is not writable.")
    credentials = register(host, game, bot_id, owner, tls=tls)
    credentials.save(path)
    return credentials


def renew(path: str | Path, host: str | None = None, *, tls: ssl.SSLContext | None = None) -> Credentials:
    """Give the bot of the auth file at `path` another pass_hash: on the server (`host`: the file's) and in the file.

    Whoever knows the old one can play as the bot no longer, after its running match. Until the server has the new one,
    that is kept beside the file, in `path` with `.new` after it; if you are not told how it ended, call this again.

    Raises BadCredentials, OSError, BadAddress, Unreachable, Refused (`login-failed`: the file's is not right either).
    """
    old, beside = Credentials.load(path), Path(f"{path}.new")
    address = parse_address(host or old.hostname)
    new = Credentials.load(beside) if beside.exists() else old
    new.check(old.game, old.bot_id, beside)
    if new.pass_hash == old.pass_hash:
        new = replace(old, pass_hash=secrets.token_hex(32))
    new.save(beside)
    try:
        _change(old, new, address, tls)
    except Refused as refused:
        if refused.code != "login-failed":
            raise
        # an earlier call may have changed it without being told so
        _change(new, new, address, tls)
    # not what is beside it: another call at the same moment may have put its own there, which the server has refused
    new.save(Path(path).resolve())
    beside.unlink(missing_ok=True)
    return new


def _change(old: Credentials, new: Credentials, address: Address, tls: ssl.SSLContext | None) -> None:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {old.pass_hash}"}
    url = address.rest_url("bots", old.game, old.bot_id, "pass_hash")
    body = json.dumps({"pass_hash": new.pass_hash}).encode()
    _answer(urllib.request.Request(url, body, headers, method="PUT"), address, tls)  # noqa: S310 - as in `register`


def _answer(request: urllib.request.Request, address: Address, tls: ssl.SSLContext | None) -> Any:
    opener = address.opener(tls or ssl.create_default_context())
    try:
        with opener.open(request, timeout=REQUEST_TIMEOUT_S) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise _refusal(error) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"No Battlebot server answers at {request.full_url}: {reason}.") from None


def _refusal(error: urllib.error.HTTPError) -> Refused | Unreachable:
    if 300 <= error.code < 400:
        where = error.headers.get("Location", "nowhere")
        return Unreachable(f"{error.url} redirects to {where!r}: give the server's own address.")
    try:
        body = json.load(error)
        return Refused(str(body["code"]), str(body["error"]))
    except (OSError, ValueError, LookupError, TypeError, http.client.HTTPException):
        return Unreachable(f"{error.url} answered {error.code} {error.reason}, and not as a Battlebot server does.")


def _strings(body: Any, what: str, wrong: type[Exception], *names: str, **defaults: str) -> dict[str, str]:
    if not isinstance(body, dict):
        raise wrong(f"{what} is not a JSON object.")
    texts = {**defaults, **{name: body[name] for name in (*names, *defaults) if name in body}}
    for name in names:
        if name not in texts:
            raise wrong(f"{what} has no {name!r}.")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise wrong(f"{what} has a {name!r} that is not a string.")
    return texts
