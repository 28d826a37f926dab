"""Names that are taken apart again."""

from __future__ import annotations

import pytest

from battlebot.redisio import keys


@pytest.mark.parametrize("of", [("numberwang", None), ("numberwang", "cup"), ("numberwang", "a b|c")], ids=repr)
def test_a_queues_name_says_which_game_and_contest_it_is_for(of: tuple[str, str | None]) -> None:
    """Outside contests, and in one."""
    assert keys.game_and_contest(keys.queue_name(*of)) == of
