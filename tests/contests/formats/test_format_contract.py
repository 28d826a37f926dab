"""A format is a file: laid into the folder it is found, and one that is not whole is refused with what it lacks."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from playing import STORMY, Playing, contest, times_met

from battlebot.contests.formats import champion
from battlebot.contests.formats.contract import formats_of

CHAMPION = Path(champion.__file__).read_text()
PAGE = Path(__file__).parents[3] / "docs/formats.md"
TESTS = Path(__file__).parents[2]

# champion's, under another name and with another setting
MARATHON = CHAMPION.replace("champion", "marathon").replace("Champion", "Marathon").replace("battles", "heats")

# what is asked in a process of its own, in which the folder of formats is a copy with one file more
ASKED = """
import sys, battlebot.contests
battlebot.contests.__path__.insert(0, sys.argv[1])
sys.path.append(sys.argv[2])
import battlebot.contests.formats
from battlebot.api.contestschemas import ContestChanges
from battlebot.cli.contest_commands import create
from battlebot.contests.cap import cap_of
from cup import cup
option = next(option for option in create.params if option.name == "format_name")
print(option.help)
print(ContestChanges().fields["format"].metadata["description"])
print([cap_of(cup(format="marathon", config=config)) for config in ({}, {"heats": 7})])
"""


def module(source: str, name: str = "marathon") -> ModuleType:
    """A module of that source."""
    made = ModuleType(name)
    exec(compile(source, name, "exec"), made.__dict__)
    return made


def asked(tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    """What comes of ASKED where marathon.py is a format."""
    folder = tmp_path / "formats"
    shutil.copytree(Path(champion.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "marathon.py").write_text(source)
    return subprocess.run(
        [sys.executable, "-c", ASKED, str(tmp_path), str(TESTS)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_file_in_the_folder_is_a_format_without_any_other_edit(tmp_path: Path) -> None:
    """Named by the command's help and the API's description, with the cap by its own setting."""
    done = asked(tmp_path, MARATHON)
    assert done.returncode == 0, done.stderr
    of_help, description, caps = done.stdout.splitlines()
    assert "marathon" in of_help
    assert "marathon" in description
    assert caps == "[100, 7]"


def test_no_format_lets_a_pair_meet_more_often_than_it_may(tmp_path: Path) -> None:
    """Only battles of all together may be more."""
    done = asked(tmp_path, MARATHON.replace("TOGETHER = True", "TOGETHER = False"))
    assert done.stdout.splitlines()[-1:] == ["[5, 5]"], done.stderr


def test_one_that_is_not_whole_is_an_error_wherever_one_is_asked_for(tmp_path: Path) -> None:
    """Nothing starts with it."""
    done = asked(tmp_path, MARATHON.replace("def planned", "def foreseen"))
    sentence = (
        "battlebot.errors.BadFormat: The contest format battlebot.contests.formats.marathon.Marathon lacks planned."
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, sentence)


LACKING = [
    ("def due", "def dues", "due"),
    ("def checked_config", "def config", "checked_config"),
    ("    CLOSED = True\n", "", "CLOSED"),
    ("    NAME = ", "    NAMED = ", "NAME"),
    ("    CLOSED = True\n    TOGETHER = True\n", "", "CLOSED, TOGETHER"),
]


@pytest.mark.parametrize(("whole", "broken", "lacks"), LACKING, ids=[case[2] for case in LACKING])
def test_what_a_format_lacks_is_said(whole: str, broken: str, lacks: str) -> None:
    """Constants as well as methods, all of them at once."""
    assert whole in MARATHON
    with pytest.raises(TypeError, match=rf"^The contest format marathon\.Marathon lacks {lacks}\.$"):
        formats_of([module(MARATHON.replace(whole, broken))])


def test_a_name_is_one_formats() -> None:
    """A copy that kept its name does not stand in for the other in silence."""
    with pytest.raises(TypeError, match=r"^Two contest formats are called 'champion': one and other\.$"):
        formats_of([module(CHAMPION, "one"), module(CHAMPION, "other")])


def test_what_is_only_imported_is_no_format_of_the_module() -> None:
    """Nor is the contract one."""
    source = "from battlebot.contests.formats.champion import Champion, Format"
    assert formats_of([module(source)]) == {}


def test_the_pages_example_is_a_format_that_comes_to_an_end() -> None:
    """As it stands in docs/formats.md."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    form = formats_of([module(found[1], "derby")])["derby"]
    for seed in range(200):
        dice = random.Random(seed)
        now = contest(form, dice.randint(2, 7), dice.randint(1, 5))
        end = Playing(form, now, dice, STORMY).to_the_end()
        assert set(times_met(end)) <= set(zip(now.entrants[::2], now.entrants[1::2], strict=False))
