"""Settings: from the environment over `.env` over the defaults; a bad one is one sentence that names its variable."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest

from battlebot.config import (
    Settings,
    as_environment,
    is_allowed,
    is_allowed_bot,
    is_allowed_viewer,
    load_settings,
    nats_login,
    unknown_variables,
)
from battlebot.errors import SettingError
from battlebot.stateless.nats.uids import Uids
from battlebot.storage.vault import Vault

ROWS = {row.name: row for row in fields(Settings)}
PASSWORD = "s3cret-pass"


def loaded(environ: dict[str, str], **overrides: Any) -> Settings:
    """Settings from this environment alone."""
    return load_settings(environ, None, **overrides)


GOOD = [
    ("BATTLEBOT_PORT", "8080", "port", 8080),
    ("BATTLEBOT_PORT", " 8080 ", "port", 8080),
    ("BATTLEBOT_PORT", "1", "port", 1),
    ("BATTLEBOT_PORT", "65535", "port", 65535),
    ("BATTLEBOT_PORT", "", "port", 3000),
    ("BATTLEBOT_HOST", " ::1\t", "host", "::1"),
    ("BATTLEBOT_LOGIN_TIMEOUT", "0.1", "login_timeout_s", 0.1),
    ("BATTLEBOT_LOGIN_TIMEOUT", "3", "login_timeout_s", 3.0),
    ("BATTLEBOT_TURN_TIMEOUT_MS", "0", "turn_timeout_ms", 0),
    ("BATTLEBOT_DATA", "/srv/b b", "data", Path("/srv/b b")),
    ("BATTLEBOT_CONTESTS_BY_LOGIN", "No", "contests_by_login", False),
    ("BATTLEBOT_CONTESTS_BY_LOGIN", "0", "contests_by_login", False),
    ("BATTLEBOT_CONTESTS_BY_LOGIN", "ON", "contests_by_login", True),
    ("BATTLEBOT_BOT_LOOPBACK", "false", "bot_loopback", False),
    ("BATTLEBOT_BOT_LOOPBACK", "true", "bot_loopback", True),
    ("BATTLEBOT_BOT_LOOPBACK", " ", "bot_loopback", None),
    ("BATTLEBOT_LOG", "json", "log_format", "json"),
    ("BATTLEBOT_LOG_LEVEL", "error", "log_level", "error"),
    ("REDIS_URL", "rediss://u:p@h:1/2", "redis_url", "rediss://u:p@h:1/2"),
    ("REDIS_URL", "unix:///run/v.sock", "redis_url", "unix:///run/v.sock"),
    ("REDIS_URL", "unix:///run/a b.sock?db=3", "redis_url", "unix:///run/a b.sock?db=3"),
    ("REDIS_URL", "rediss://[::1]/0?ssl_cert_reqs=none", "redis_url", "rediss://[::1]/0?ssl_cert_reqs=none"),
    ("MONGODB_DATABASE", "ä" * 31, "mongodb_database", "ä" * 31),
    ("MONGODB_URI", "mongodb+srv://u:p@h/db", "mongodb_uri", "mongodb+srv://u:p@h/db"),
    ("MONGODB_URI", "mongodb://%2Ftmp%2Fm.sock/?a=b.c", "mongodb_uri", "mongodb://%2Ftmp%2Fm.sock/?a=b.c"),
    ("NATS_URL", "nats://u:p@h:4222", "nats_url", "nats://u:p@h:4222"),
    ("BATTLEBOT_ORIGINS", "*", "origins", "*"),
    ("BATTLEBOT_ORIGINS", "https://a.org, http://b:80,", "origins", "https://a.org, http://b:80,"),
    ("BATTLEBOT_ORIGINS", "HTTPS://A.org:8443, http://[::1]:80", "origins", "HTTPS://A.org:8443, http://[::1]:80"),
    ("BATTLEBOT_BOT_NETWORKS", "10.1.0.0/16, fd00::/8,", "bot_networks", "10.1.0.0/16, fd00::/8,"),
    ("SECRET_KEY", "newest-key-of-all,an-older-key-of-ours", "secret_key", "newest-key-of-all,an-older-key-of-ours"),
]

BAD = [
    ("BATTLEBOT_PORT", "http", "is not a whole number"),
    ("BATTLEBOT_PORT", "3000.0", "is not a whole number"),
    ("BATTLEBOT_PORT", "0x10", "is not a whole number"),
    ("BATTLEBOT_TRUSTED_PROXIES", "1_0", "is not a whole number"),
    ("BATTLEBOT_TRUSTED_PROXIES", "\u0663", "is not a whole number"),
    ("BATTLEBOT_PORT", "0", "out of bounds: 1 to 65535"),
    ("BATTLEBOT_PORT", "-1", "out of bounds"),
    ("BATTLEBOT_PORT", "65536", "out of bounds"),
    ("BATTLEBOT_LOGIN_TIMEOUT", "soon", "is not a number"),
    ("BATTLEBOT_LOGIN_TIMEOUT", "10s", "is not a number"),
    ("BATTLEBOT_LOGIN_TIMEOUT", "0", "out of bounds: 0.1 to 600"),
    ("BATTLEBOT_LOGIN_TIMEOUT", "nan", "is not a number"),
    ("BATTLEBOT_LOGIN_TIMEOUT", "inf", "is not a number"),
    ("BATTLEBOT_MEETINGS", "6", "out of bounds: 1 to 5"),
    # a battle in the only place would keep rated matches from theirs
    ("BATTLEBOT_BOTS_CONCURRENCY", "1", "out of bounds: 2 to 10000"),
    ("BATTLEBOT_CONTESTS_BY_LOGIN", "maybe", "neither true nor false"),
    ("BATTLEBOT_LOG", "xml", "not one of json, console, auto"),
    ("BATTLEBOT_LOG_LEVEL", "trace", "not one of debug, info, warning, error"),
    ("REDIS_URL", "localhost:6379", "must begin with redis:// or rediss:// or unix://"),
    ("REDIS_URL", "http://h", "must begin with"),
    ("BATTLEBOT_ORIGINS", "pages.example.org", "is not an origin"),
    ("BATTLEBOT_ORIGINS", "*,https://pages.example.org/", "is not an origin"),
    ("BATTLEBOT_ORIGINS", "https://pages.example.org:port", "is not an origin"),
    ("BATTLEBOT_ORIGINS", "https://::1", "is not an origin"),
    ("BATTLEBOT_BOT_NETWORKS", "10.1.0.0/16,10.1.0.0/33", "is no network"),
    ("SECRET_KEY", "fifteen-letters", "keys of at least 16 characters"),
    ("SECRET_KEY", "newest-key-of-all,fifteen-letters ", "keys of at least 16 characters"),
    ("SECRET_KEY", "newest-key-of-all,", "keys of at least 16 characters"),
    ("MONGODB_URI", "redis://h", "must begin with mongodb:// or mongodb+srv://"),
    ("NATS_URL", "ws://h", "must name one server"),
    ("NATS_URL", "nats://", "must name one server"),
    ("NATS_URL", "nats://h/path", "must name one server"),
    ("NATS_URL", "nats://h:port", "must name one server"),
    ("NATS_URL", "nats://h:0", "must name one server"),
    ("REDIS_URL", "redis://h/0?password=x", "must not have the option"),
    ("REDIS_URL", "redis://h/0?username=", "must not have the option"),
    ("REDIS_URL", "unix:///run/v.sock?password=x", "must not have the option"),
    ("REDIS_URL", "redis://h?db=x", "REDIS_URL's option db must be a whole number from 0 on"),
    ("REDIS_URL", "redis://h?db=-1", "REDIS_URL's option db must be"),
    ("REDIS_URL", "redis://h?db=", "REDIS_URL's option db must be"),
    ("REDIS_URL", "redis://h?db=1&db=x", "REDIS_URL's option db must be"),
    ("REDIS_URL", "redis://h?socket_timeout=abc", "REDIS_URL's option socket_timeout must be a number of seconds"),
    ("REDIS_URL", "redis://h?socket_timeout=0", "REDIS_URL's option socket_timeout must be"),
    ("REDIS_URL", "redis://h?socket_connect_timeout=nan", "REDIS_URL's option socket_connect_timeout must"),
    ("REDIS_URL", "redis://h?max_connections=19", "option max_connections must be a whole number from 20 on"),
    ("REDIS_URL", "rediss://h?ssl_cert_reqs=bogus", "option ssl_cert_reqs must be none, optional or required"),
    ("REDIS_URL", "rediss://h?ssl_check_hostname=no", "REDIS_URL's option ssl_check_hostname must be true or false"),
    ("REDIS_URL", "rediss://h?ssl_ca_certs=/nonexistent.pem", "option ssl_ca_certs must name a file that can be read"),
    ("REDIS_URL", "rediss://h?ssl_certfile=/", "option ssl_certfile must name a file that can be read"),
    ("REDIS_URL", "rediss://h?ssl_keyfile=%00", "option ssl_keyfile must be a text"),
    ("REDIS_URL", "redis://h?ssl_cert_reqs=none", "the option ssl_cert_reqs, which goes with rediss:// only"),
    ("REDIS_URL", "unix:///run/v.sock?socket_keepalive=true", "goes with redis:// and rediss:// only"),
    ("REDIS_URL", "redis://h?foo=bar", "REDIS_URL has an option that is none of "),
    ("REDIS_URL", "redis://h?decode_responses=true", "REDIS_URL has an option that is none of "),
    ("REDIS_URL", "redis://u:12#q@h/0", "must have the form"),
    ("REDIS_URL", "unix://?db=1", "must have the form"),
    ("REDIS_URL", "redis://h/zero", "must have the form"),
    ("REDIS_URL", "redis://u:p/q@h/0", "must have the form"),
    ("REDIS_URL", "redis://u:p q@h/0", "must have the form"),
    ("REDIS_URL", "redis://h:65536", "must have the form"),
    ("REDIS_URL", "redis://h:0", "must have the form"),
    ("REDIS_URL", "redis://[h/0", "must have the form"),
    ("REDIS_URL", "unix://u:p@/run/v.sock", "must have the form"),
    ("MONGODB_URI", "mongodb://u:p q@h/db", "must not have blanks"),
    ("MONGODB_URI", "mongodb://u:p@h/a.b?replicaSet=rs0", "names what is no name of a database"),
    ("MONGODB_URI", "mongodb://h,g/a%2Eb", "names what is no name of a database"),
    ("MONGODB_URI", "mongodb+srv://h.example.org/" + "x" * 64, "at most 63 bytes"),
    ("MONGODB_DATABASE", "my cup", "is no name of a database"),
    ("MONGODB_DATABASE", "a.b", "is no name of a database"),
    ("MONGODB_DATABASE", "a\tb", "is no name of a database"),
    ("MONGODB_DATABASE", "ä" * 32, "at most 63 bytes"),
    ("MONGODB_DATABASE", "\udcff", "is no name of a database"),
    ("NATS_URL", "nats://h:65536", "must name one server"),
    ("NATS_URL", "nats://h,nats://g", "must name one server"),
    ("NATS_URL", "nats://u:p@h,nats://u:p@g", "must name one server"),
    ("NATS_URL", "nats://h,nats://u:p@g", "must name one server"),
    ("NATS_URL", "nats://u:p@h,u:p@g", "must name one server"),
    ("NATS_URL", "nats://u:%ff@h", "must be UTF-8"),
]


@pytest.mark.parametrize(("variable", "text", "name", "value"), GOOD)
def test_a_setting_is_read(variable: str, text: str, name: str, value: object) -> None:
    """Bounds are inclusive; blanks around a value do not count; an empty value is none."""
    settings = loaded({variable: text})
    assert getattr(settings, name) == value
    assert type(getattr(settings, name)) is type(value) or isinstance(value, Path)
    assert settings == replace(Settings(), **{name: value})


@pytest.mark.parametrize(("variable", "text", "sentence"), BAD)
def test_a_bad_setting_is_one_sentence_with_its_variable(variable: str, text: str, sentence: str) -> None:
    """What the operator reads at the start, instead of a traceback."""
    with pytest.raises(SettingError) as caught:
        loaded({variable: text})
    line = str(caught.value)
    assert line.startswith(variable)
    assert sentence in line
    assert "\n" not in line
    assert line.endswith(".")


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.metadata["low"] is not None])
def test_every_number_is_bounded_on_both_sides(name: str) -> None:
    """By exactly what its row says; the default lies within."""
    row = ROWS[name]
    variable, low, high = (row.metadata[key] for key in ("env", "low", "high"))
    assert low <= row.default <= high
    whole = type(row.default) is int
    for bound in (low, high):
        assert getattr(loaded({variable: str(int(bound) if whole else bound)}), name) == bound
    for beyond in (low - 1, high + 1):
        with pytest.raises(SettingError, match=f"{variable}=.*out of bounds"):
            loaded({variable: str(int(beyond) if whole else beyond)})


def test_every_number_has_bounds() -> None:
    """A time-out of -1 s helps nobody."""
    numbers = {name for name, row in ROWS.items() if type(row.default) in (int, float)}
    assert {name for name in numbers if ROWS[name].metadata["low"] is None} == set()


LOGINS = [
    ("nats://h", "nats://h:4222", {}),
    ("h:1", "nats://h:1", {}),
    ("tls://[::1]:1/", "tls://[::1]:1", {}),
    ("nats://t0k@h", "nats://h:4222", {"token": "t0k"}),
    ("nats://u:@h", "nats://h:4222", {"user": "u", "password": ""}),
    ("nats://u:p,q@h", "nats://h:4222", {"user": "u", "password": "p,q"}),
    ("nats://h:65535", "nats://h:65535", {}),
    ("nats://u%3A:p%40%2f%C3%A4@h", "nats://h:4222", {"user": "u:", "password": "p@/ä"}),
    ("nats://u:p@/#?:ä%@h", "nats://h:4222", {"user": "u", "password": "p@/#?:ä%"}),
]


@pytest.mark.parametrize(("url", "server", "credentials"), LOGINS)
def test_credentials_are_taken_out_of_the_url_of_nats(url: str, server: str, credentials: dict[str, str]) -> None:
    """Decoded; what is odd in a password may stand there as it is, where it can be meant in one way only."""
    login = nats_login(url)
    assert (login.server, login.credentials) == (server, credentials)
    assert "p@" not in repr(login)


@pytest.mark.parametrize("variable", ["REDIS_URL", "MONGODB_URI", "NATS_URL"])
@pytest.mark.parametrize(
    "url",
    [
        f"http://bot:{PASSWORD}@h/0",
        f"bot:{PASSWORD}@h:x",
        f"Redis://bot:{PASSWORD}@h",
        f"redis://bot:12?{PASSWORD}=x@h",
        f"redis://bot:12?db={PASSWORD}@h",
        f"redis://bot:12#{PASSWORD}@h",
        f"rediss://bot:{PASSWORD}@h?ssl_cert_reqs={PASSWORD}",
    ],
)
def test_a_password_is_never_repeated(variable: str, url: str) -> None:
    """Neither in the sentence nor in the details nor in what led to it: errors reach logs."""
    with pytest.raises(SettingError) as caught:
        loaded({variable: url})
    assert PASSWORD not in f"{caught.value!r} {caught.value.as_dict()} {caught.value.__context__!r}"


def test_a_password_that_cannot_be_decoded_is_not_repeated() -> None:
    """Nor in what led to the error."""
    with pytest.raises(SettingError) as caught:
        loaded({"NATS_URL": f"nats://bot:{PASSWORD}%ff@h"})
    assert PASSWORD not in f"{caught.value!r} {caught.value.as_dict()} {caught.value.__context__!r}"


def test_the_environment_wins_over_the_file_and_overrides_over_both(tmp_path: Path) -> None:
    """An empty variable leaves the file's; an override of None is none."""
    file = tmp_path / ".env"
    file.write_text('BATTLEBOT_PORT=4000\nexport BATTLEBOT_HOST="::"  # everywhere\n\n# BATTLEBOT_LOG=json\n')
    assert load_settings({}, file).port == 4000
    assert load_settings({}, file).host == "::"
    assert load_settings({}, file).log_format == "auto"
    assert load_settings({"BATTLEBOT_PORT": "5000", "BATTLEBOT_HOST": ""}, file).port == 5000
    assert load_settings({"BATTLEBOT_PORT": "5000", "BATTLEBOT_HOST": ""}, file).host == "::"
    overridden = load_settings({"BATTLEBOT_PORT": "5000"}, file, port=6000, host=None)
    assert (overridden.port, overridden.host) == (6000, "::")


def test_the_port_has_a_second_name() -> None:
    """The first one wins; a bad value is told under the name that it has."""
    assert loaded({"PORT": "4000"}).port == 4000
    assert loaded({"PORT": "junk", "BATTLEBOT_PORT": "4001"}).port == 4001
    with pytest.raises(SettingError, match=r"^PORT"):
        loaded({"PORT": "junk"})


def test_a_bad_value_in_the_file_is_told_as_one_in_the_environment(tmp_path: Path) -> None:
    """The variable is what is looked for."""
    file = tmp_path / ".env"
    file.write_text("BATTLEBOT_PORT=none\n")
    with pytest.raises(SettingError, match="BATTLEBOT_PORT='none' is not a whole number"):
        load_settings({}, file)


@pytest.mark.parametrize("read", [lambda key: loaded({"SECRET_KEY": key}), Vault, Uids])
def test_all_who_read_the_secret_key_take_the_same_ones(read: Callable[[str], Any]) -> None:
    """What one of them takes, none of the others may fail at, or read as other keys."""
    read("newest-key-of-all, an-older-key-of-ours")
    for key in ("newest-key-of-all,", "newest-key-of-all,,an-older-key-of-ours", "fifteen-letters"):
        with pytest.raises(SettingError, match="keys of at least 16 characters"):
            read(key)


def test_zeros_in_the_file_are_told(tmp_path: Path) -> None:
    """No process can be started with them, and a file of nothing else would be one without settings."""
    file = tmp_path / ".env"
    for content in (bytes(200), b"SECRET_KEY=" + bytes(64)):
        file.write_bytes(content)
        with pytest.raises(SettingError, match=r"\.env is damaged: it holds zeros"):
            load_settings({}, file)


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    """The file need not be; a folder of that name is none."""
    assert load_settings({}, tmp_path / ".env") == load_settings({}, tmp_path) == Settings()


def test_what_is_not_ours_is_left_alone() -> None:
    """Any environment is full of other programs' variables."""
    assert loaded({"PATH": "/bin", "HOST": "x", "battlebot_port": "x"}) == Settings()


def test_what_looks_like_ours_and_is_not_is_found_with_its_nearest(tmp_path: Path) -> None:
    """In the environment and in the file; not what other parts read, nor what is set to nothing of ours."""
    file = tmp_path / ".env"
    file.write_text("BATTLEBOT_HOTS=::\nBATTLEBOT_PUBLISH=80\nBATTLEBOT_HOST=::\n")
    environ = {
        "BATTLEBOT_PROT": "1",
        "BATTLEBOT_TOKEN": "t",
        "BATTLEBOT_TCP_PUBLISH": "1",
        "BATTLEBOT_IMAGE": "i",
        "BATTLEBOT_XYZZY": "",
        "PROT": "1",
        **as_environment(Settings()),
    }
    assert unknown_variables(environ, file) == {
        "BATTLEBOT_HOTS": "BATTLEBOT_HOST",
        "BATTLEBOT_PROT": "BATTLEBOT_PORT",
        "BATTLEBOT_XYZZY": None,
    }


def test_a_variable_that_is_nearly_a_missing_setting_is_named() -> None:
    """Else a server with an empty database of its own starts; what is given elsewhere, or is other people's, is not."""
    environ = dict.fromkeys(["REDIS_URI", "MONGO_URI", "NATS_URI", "NATS_URL", "REDIS_PORT", "API_KEY", "PATH"], "x")
    assert unknown_variables(environ, None) == {"MONGO_URI": "MONGODB_URI", "REDIS_URI": "REDIS_URL"}


def test_an_unknown_override_raises() -> None:
    """That is a mistake of ours."""
    with pytest.raises(TypeError, match="prot"):
        loaded({}, prot=1)


def test_a_child_process_loads_equal_settings(tmp_path: Path) -> None:
    """`as_environment` and `load_settings` are inverse, for a value of every setting that is not its default."""
    changed: dict[str, Any] = {"log_format": "json", "log_level": "debug", "data": tmp_path / "a b"}
    changed["origins"] = "https://pages.example.org,http://localhost:8000"
    changed["bot_networks"] = "10.1.0.0/16, fd00::/8"
    changed["bot_loopback"] = False
    changed |= {"redis_url": "unix:///run/a b.sock?db=3", "mongodb_uri": "mongodb://u:p%40@h/?replicaSet=rs0"}
    for name, row in ROWS.items():
        if type(row.default) is bool:
            changed.setdefault(name, not row.default)
        elif isinstance(row.default, int | float):
            changed.setdefault(
                name, row.metadata["high"] if row.default == row.metadata["low"] else row.metadata["low"]
            )
        else:
            changed.setdefault(name, f"x-{name}-of-a-child")
    kinds = {name: type(row.default) for name, row in ROWS.items()} | {"bot_loopback": bool}
    settings = Settings(**{name: kinds[name](value) for name, value in changed.items()})
    assert all(getattr(settings, name) != row.default for name, row in ROWS.items())
    assert loaded(as_environment(settings)) == settings
    assert loaded(as_environment(Settings())) == Settings()


def test_every_setting_is_documented_under_a_name_of_its_own() -> None:
    """The sentence is what `.env.example` and the docs are made of."""
    assert len({row.metadata["env"] for row in ROWS.values()}) == len(ROWS)
    for row in ROWS.values():
        assert row.metadata["env"] == row.metadata["env"].upper()
        assert len(row.metadata["doc"]) > 10
        assert row.metadata["doc"].endswith(".")


def test_settings_are_frozen() -> None:
    """Nobody changes them under another's feet."""
    with pytest.raises(FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


def test_a_file_that_may_not_be_read_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's, say. It may well be text."""

    def refuse(path: Path, encoding: str) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    (tmp_path / ".env").touch()
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(SettingError, match=r"\.env cannot be read: Permission denied\.$"):
        load_settings({}, tmp_path / ".env")


@pytest.mark.parametrize("case", ["bytes in .env", "no such home", "blank is empty", "bounds in full", "override"])
def test_rarer_mistakes_are_told_as_well(case: str, tmp_path: Path) -> None:
    """A file that is no text, a home that nobody has, a value of blanks, a large bound, a bad override."""
    if case == "bytes in .env":
        (tmp_path / ".env").write_bytes(b"BATTLEBOT_PORT=4000\xff\n")
        with pytest.raises(SettingError):
            load_settings({}, tmp_path / ".env")
    elif case == "no such home":
        with pytest.raises(SettingError, match="BATTLEBOT_DATA"):
            loaded({"BATTLEBOT_DATA": "~no-such-user/x"})
        with pytest.raises(SettingError, match="--data"):
            loaded({}, data=Path("~no-such-user/x"))
    elif case == "blank is empty":
        assert loaded({"BATTLEBOT_DATA": "  "}) == Settings()
    elif case == "bounds in full":
        with pytest.raises(SettingError, match=r"1.?048.?576"):
            loaded({"BATTLEBOT_MAX_MESSAGE": "1"})
    else:
        with pytest.raises(SettingError, match="BATTLEBOT_PORT"):
            loaded({}, port=99999)


@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost:8080", "http://LOCALHOST", "http://localhost.:8080", "https://127.0.0.1:1"),
        *("http://127.0.0.2:80", "http://[::1]:9"),
    ],
)
def test_pages_of_this_machine_are_viewers_of_a_server_that_only_it_can_reach(origin: str) -> None:
    """Unless there is a proxy, through which others can; as anything else, only if they are named."""
    for host in ("127.0.0.1", "127.0.0.2", "::1", "localhost"):
        assert is_allowed_viewer(Settings(host=host), origin)
    assert not is_allowed(Settings(), origin)
    for settings in (Settings(host="0.0.0.0"), Settings(trusted_proxies=1)):
        assert not is_allowed_viewer(settings, origin)
        assert is_allowed_viewer(replace(settings, origins=origin), origin)


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "", "file://", "https://evil.example", "http://192.168.1.2:8080", "http://128.0.0.1"),
        *("http://localhost.evil.example", "http://evil.example:8080", "http://127.0.0.1.evil.example:80"),
        *("http://localhost:80@evil.example", "http://evil-localhost", "xhttp://localhost", "http://localhost:8080\n"),
    ],
)
def test_no_other_pages_are_viewers_by_themselves(origin: str) -> None:
    """Whatever their hosts resemble."""
    assert not is_allowed_viewer(Settings(), origin)


def test_an_origin_is_allowed_that_is_named_or_where_all_are() -> None:
    """Letters of any size, as browsers send it; a bot's own machine is named by itself, for bots alone."""
    named = Settings(host="0.0.0.0", origins="https://Pages.example.org, http://b.example:8000")
    page, other, own = "https://pages.EXAMPLE.org", "https://pages.example.org:8000", "http://localhost:8080"
    for allowed in (is_allowed, is_allowed_bot, is_allowed_viewer):
        assert allowed(named, page)
        assert allowed(named, "http://b.example:8000")
        assert not allowed(named, other)
        assert allowed(Settings(origins="*"), other)
        assert not allowed(Settings(), other)
        assert allowed(named, own) is (allowed is is_allowed_bot)
