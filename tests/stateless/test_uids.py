"""What histories are called that are sent to bots: a secret each, the same wherever the key is the same."""

from __future__ import annotations

import pytest

from battlebot.errors import SettingError
from battlebot.stateless.nats.uids import Uids

KEY, OLDER = "the newest key of a server", "an older key of that server"


def test_a_uid_is_the_same_in_each_process() -> None:
    """Also once a newer key has become an older one, where the newest stays."""
    assert Uids(KEY).of("m1", "ada") == Uids(f" {KEY} , {OLDER}").of("m1", "ada")


def test_each_match_each_bot_and_each_key_has_its_own() -> None:
    """None is found from another; where one name ends and the next begins makes a difference."""
    cases = [(KEY, "m1", "ada"), (KEY, "m1", "ben"), (KEY, "m2", "ada"), (OLDER, "m1", "ada"), (KEY, "m1a", "da")]
    assert len({Uids(key).of(match, bot) for key, match, bot in cases}) == len(cases)


@pytest.mark.parametrize("key", ["", " , "])
def test_without_a_key_there_is_none(key: str) -> None:
    """Rather than one that everybody can tell."""
    with pytest.raises(SettingError):
        Uids(key)
