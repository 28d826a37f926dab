"""docker/compose.yml as Docker Compose reads it: what every service has, who reaches whom, what must be set."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = ("nginx", "web1", "web2", "tcp", "worker", "bots", "beat", "valkey", "mongo")
OURS = ("web1", "web2", "tcp", "worker", "bots", "beat")
# what each waits for until it is healthy
WAITS_FOR = {
    "nginx": {"web1", "web2"},
    **{name: {"valkey", "mongo"} for name in OURS},
    "valkey": set(),
    "mongo": set(),
}
NETWORKS = {
    "nginx": {"front"},
    "web1": {"front", "stores"},
    "web2": {"front", "stores"},
    "tcp": {"front", "stores"},
    "bots": {"out", "stores"},
    **{name: {"stores"} for name in ("worker", "beat", "valkey", "mongo")},
}

Read = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def read(tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Read:
    """`read(dotenv)`: what `docker-compose config` says, in a copy of the folder with that .env (None: without)."""

    def config(dotenv: str | None) -> subprocess.CompletedProcess[str]:
        folder = tmp_path_factory.mktemp("compose") / "docker"
        shutil.copytree(ROOT / "docker", folder, ignore=shutil.ignore_patterns(".env"))
        if dotenv is not None:
            (folder / ".env").write_text(dotenv)
        command = [tool("docker-compose"), "-f", str(folder / "compose.yml"), "config", "--format", "json"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return config


@pytest.fixture(scope="module")
def services(read: Read) -> dict[str, Any]:
    """The services by name, everything filled in."""
    return json.loads(read("SECRET_KEY=0123456789abcdef\nBATTLEBOT_MEETINGS=3\nBATTLEBOT_HOST=192.0.2.1\n").stdout)[
        "services"
    ]


@pytest.mark.parametrize("dotenv", [None, "", (ROOT / "docker" / ".env.example").read_text()])
def test_nothing_starts_without_a_secret_key(dotenv: str | None, read: Read) -> None:
    """A made-up one would lock out every bot when the next is made up. The example holds none."""
    answer = read(dotenv)
    assert answer.returncode != 0
    assert "SECRET_KEY is missing a value: set it in docker/.env" in answer.stderr


def test_these_are_the_services(services: dict[str, Any]) -> None:
    """Two web nodes, two workers, one that asks stateless bots, and one beat."""
    assert set(services) == set(SERVICES)
    assert services["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined_watched_and_restarted(name: str, services: dict[str, Any]) -> None:
    """None runs as root (ours: see the Dockerfile), writes outside its volume and /tmp, or fills the disk with logs."""
    service = services[name]
    assert service["restart"] == "unless-stopped"
    assert service["read_only"] is True
    assert "/tmp" in service["tmpfs"]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["mem_limit"]) <= 2**31
    assert service["healthcheck"]["test"]
    assert service["stop_grace_period"]
    assert service["logging"]["options"]["max-size"]
    assert name in OURS or service["user"] not in ("", "root", "0")


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_until_what_it_needs_is_healthy(name: str, services: dict[str, Any]) -> None:
    """And not only until it has been started."""
    waits = services[name].get("depends_on") or {}
    assert {other: row["condition"] for other, row in waits.items()} == dict.fromkeys(
        WAITS_FOR[name], "service_healthy"
    )


@pytest.mark.parametrize("name", SERVICES)
def test_only_nginx_and_the_tcp_door_are_reached_from_outside(name: str, services: dict[str, Any]) -> None:
    """nginx reaches no store. Each is this machine's alone until somebody says otherwise: they speak no TLS."""
    ports = [f"{port['host_ip']}:{port['published']}" for port in services[name].get("ports") or []]
    assert ports == {"nginx": ["127.0.0.1:3000"], "tcp": ["127.0.0.1:5232"]}.get(name, [])
    assert set(services[name]["networks"]) == NETWORKS[name]


@pytest.mark.parametrize("name", OURS)
def test_our_parts_are_told_where_everything_is(name: str, services: dict[str, Any]) -> None:
    """Settings of .env reach them, except where this file knows better; the key reaches web nodes only."""
    environment = services[name]["environment"]
    assert environment["BATTLEBOT_MEETINGS"] == "3"
    assert environment["BATTLEBOT_HOST"] == "0.0.0.0"
    assert environment["BATTLEBOT_TRUSTED_PROXIES"] == "1"
    assert environment["REDIS_URL"].startswith("redis://valkey:")
    assert environment["MONGODB_URI"] == "mongodb://mongo:27017/?replicaSet=battlebot"
    assert environment["SECRET_KEY"] == ("0123456789abcdef" if name in ("web1", "web2", "tcp") else "")
    assert services[name]["healthcheck"]["test"][-1] == services[name]["command"][0].rstrip("12")


def test_who_asks_bots_over_nats_is_given_the_key(read: Read) -> None:
    """It makes their `uid`s from it; the other workers need none."""
    services = json.loads(read("SECRET_KEY=0123456789abcdef\nNATS_URL=nats://nats:4222\n").stdout)["services"]
    told = {name: services[name]["environment"]["SECRET_KEY"] for name in ("bots", "worker", "beat")}
    assert told == {"bots": "0123456789abcdef", "worker": "", "beat": ""}


def test_the_stores_keep_what_they_have_acknowledged(services: dict[str, Any], read: Read) -> None:
    """On named volumes, in a network that nothing else is in."""
    whole = json.loads(read("SECRET_KEY=0123456789abcdef").stdout)
    assert set(whole["volumes"]) == {"valkey", "mongo"}
    assert whole["networks"]["stores"]["internal"] is True
    targets = {name: services[name]["volumes"][0]["target"] for name in ("valkey", "mongo")}
    assert targets == {"valkey": "/data", "mongo": "/data/db"}
    assert services["mongo"]["command"][:3] == ["mongod", "--replSet", "battlebot"]
