"""How places and tickets are written, and taken apart again."""

from __future__ import annotations

import pytest

from battlebot.arena.places import (
    TCP,
    WEB,
    Traits,
    door_of,
    is_stateless,
    node_name,
    node_of,
    place_and_bot,
    place_at,
    stateless_place,
    ticket_of,
    traits_of,
)


@pytest.mark.parametrize("door", [WEB, TCP])
@pytest.mark.parametrize("boards", [0, 2])
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("passwordless", [False, True])
def test_what_a_place_says_can_be_read_from_it(door: str, boards: int, stays: bool, passwordless: bool) -> None:
    """Whatever others must know of a player."""
    node, traits = node_name("3f9c", door), Traits(stays, boards, passwordless)
    place = place_at(node, "17", 2, traits)
    assert (node_of(place), door_of(place), door_of(node), traits_of(place)) == (node, door, door, traits)
    assert not is_stateless(place)


def test_a_trait_that_a_later_version_has_added_hides_no_other() -> None:
    """A node of that version may have the player, and one of this version make its match."""
    traits = Traits(stays=True, boards=2, passwordless=True)
    assert traits_of(place_at(node_name("3f9c", TCP), "17", 2, traits) + "q") == traits


@pytest.mark.parametrize("bot", ["ada", "a/b", "~s2p", "bots/1"])
def test_a_ticket_names_a_place_and_a_bot(bot: str) -> None:
    """Whatever characters a name at the TCP door has: none of them can say anything of the place."""
    for place in (place_at(node_name("3f9c", TCP), "17", 1, Traits(boards=2)), stateless_place("77")):
        assert place_and_bot(ticket_of(place, bot)) == (place, bot)
        assert is_stateless(place) == is_stateless(ticket_of(place, bot))
