"""What docs/operations.md says and the code can contradict: settings, files, commands, and where its links lead."""

from __future__ import annotations

import re

import pytest
from settings_table import HEAD, PAGE, table, with_table

from battlebot.cli import commands

TEXT = PAGE.read_text()
ROOT = PAGE.parents[1]


def test_the_table_of_settings_is_the_codes() -> None:
    """If not: `python tests/docker/settings_table.py` writes it anew."""
    assert with_table(TEXT) == TEXT
    assert table().count("\n") > 20


def test_a_setting_that_the_page_does_not_know_is_found() -> None:
    """Also a row too many, or one that says something else."""
    rows = table().splitlines(keepends=True)
    for wrong in ([*rows[:-1]], [*rows, rows[-1]], [*rows[:-1], rows[-1].replace("`", "'")]):
        page = f"before\n\n{''.join(wrong)}\nafter\n"
        assert with_table(page) == f"before\n\n{table()}\nafter\n"
    with pytest.raises(ValueError, match="substring not found"):
        with_table(HEAD[1:])


def test_the_settings_that_are_named_exist() -> None:
    """In the text as in the table; some are the Compose file's own."""
    of_compose = {"BATTLEBOT_PUBLISH", "BATTLEBOT_TCP_PUBLISH", "BATTLEBOT_IMAGE"}
    known = set(re.findall(r"^\| `(\w+)`", table(), re.M)) | of_compose
    assert set(re.findall(r"\bBATTLEBOT_\w+", TEXT)) <= known


def test_the_commands_that_are_named_exist() -> None:
    """`battlebot <command>`, and the targets of make."""
    named = set(re.findall(r"`battlebot (\w+)", TEXT)) | set(re.findall(r"^battlebot (\w+)", TEXT, re.M))
    assert named
    assert named <= set(commands.commands)


def test_every_link_leads_somewhere() -> None:
    """Of those within the repository; a heading's anchor is its words."""
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT)
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.+)$", TEXT, re.M)}
    for link in links:
        path, _, anchor = link.partition("#")
        assert not path or (PAGE.parent / path).exists(), link
        assert not anchor or path or anchor in anchors, link


def test_the_files_that_are_named_exist() -> None:
    """Everything in backticks that looks like a file of ours."""
    named = set(re.findall(r"`((?:docker|battlebot|docs)/[\w./-]+\.\w+)`", TEXT))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_a_restore_stops_every_part_of_ours_and_an_upgrade_replaces_it() -> None:
    """All services of the Compose file but those of other programs."""
    compose = (ROOT / "docker" / "compose.yml").read_text()
    services = re.findall(r"^  (\w+):", compose[compose.index("\nservices:") : compose.index("\nnetworks:")], re.M)
    ours = set(services) - {"nginx", "valkey", "mongo"}
    stopped = re.findall(r"^docker compose stop (.+)$", TEXT, re.M)
    replaced = re.findall(r"^docker compose up -d --no-deps (?:--wait )?(.+)$", TEXT, re.M)
    assert set(" ".join(stopped).split()) == ours | {"nginx"}
    assert set(" ".join(replaced).split()) == ours
