"""What `"protocol": 2` adds: sessions that are kept, seats that are asked for, messages of their own."""

from __future__ import annotations

import pytest
from peer import CLOSE, TEXT, frame
from switchboard import Switchboard

KEEP = {"protocol": 2, "session": "keep"}


def resume(match_id: str) -> dict[str, object]:
    """The keys of a login that asks for a seat."""
    return {"protocol": 2, "resume": match_id}


def test_a_kept_session_plays_match_after_match_on_one_connection(meet: Switchboard) -> None:
    """The connection goes back into the queue by itself; each first update is another match's."""
    one, two = meet.login(meet.auth(), login=KEEP), meet.login(meet.auth(), login=KEEP)
    seen = set()
    for _ in range(10):
        mover, other = meet.seated(one, two)
        assert "turn" not in mover.first
        assert mover.first["match"]["version"] == 0
        seen.add(mover.first["match"]["id"])
        mover.send({"n": 10})
        for peer in (mover, other):
            assert peer.update()["state"]["complete"] is True
    assert len(seen) == 10


def test_a_kept_session_is_played_with_an_original_client_that_leaves(meet: Switchboard) -> None:
    """One stays and the other is closed; the one that stays meets the next who comes."""
    kept = meet.login(meet.auth(), login=KEEP)
    for _ in range(3):
        original = meet.login(meet.auth())
        mover, _ = meet.seated(kept, original)
        mover.send({"n": 10})
        kept.final()
        original.final()
        assert original.closed().code == 1000


def test_strikes_begin_anew_with_each_match_of_a_session(meet: Switchboard) -> None:
    """Two in each of two matches lose neither."""
    one, two = meet.login(meet.auth(), login=KEEP), meet.login(meet.auth(), login=KEEP)
    for _ in range(2):
        mover, other = meet.seated(one, two)
        for count in (1, 2):
            mover.send({})
            assert mover.update()["match"]["strikes"] == count
        mover.send({"n": 10})
        assert mover.update()["state"]["reason"] == other.update()["state"]["reason"] == "complete"


def test_a_kept_session_that_loses_by_strikes_is_kept(meet: Switchboard) -> None:
    """A lost match is no reason to hang up."""
    one, two = meet.login(meet.auth(), login=KEEP), meet.login(meet.auth(), login=KEEP)
    mover, other = meet.seated(one, two)
    for _ in range(3):
        mover.send([])
    assert [mover.final()["state"]["victor"], other.final()["state"]["victor"]] == [other.bot] * 2
    meet.seated(one, two)


def test_a_seat_that_is_asked_for_is_taken_over_from_the_connection_that_holds_it(meet: Switchboard) -> None:
    """The old connection is closed as taken over; the new one has the current state, and plays on."""
    mover, other = meet.sit()
    mover.send({"n": 2})
    assert mover.update()["state"] == other.update()["state"]
    match_id = mover.first["match"]["id"]
    late = meet.login(mover.auth, login=resume(match_id))
    update = late.update()
    assert (update["match"]["id"], update["state"]["board"]) == (match_id, {"n": 2})
    closed = mover.closed()
    assert (closed.code, closed.slug) == (1008, "taken-over")
    other.send({"n": 8})
    assert late.update()["state"]["complete"] is other.update()["state"]["complete"] is True


def test_a_seat_taken_over_again_and_again_has_one_clock(meet: Switchboard) -> None:
    """Each new connection has the time that the one before it left, and no more."""
    mover, _ = meet.sit()
    auth, about = mover.auth, mover.first["match"]
    for _ in range(3):
        with pytest.raises(TimeoutError):
            mover.any_frame(0.2)
        mover = meet.login(auth, login=resume(about["id"]))
        before_ms, about = about["remainingMs"], mover.update()["match"]
        assert about["remainingMs"] < before_ms


def test_a_seat_in_somebody_elses_match_is_not_given(meet: Switchboard) -> None:
    """Who asks for it waits as anybody else."""
    mover, other = meet.sit()
    stranger = meet.login(meet.auth(), login=resume(mover.first["match"]["id"]))
    with pytest.raises(TimeoutError):
        stranger.any_frame(0.3)
    mover.send({"n": 1})
    assert mover.update()["state"] == other.update()["state"]


@pytest.mark.parametrize("match_id", ["0" * 24, "f" * 24])
def test_a_match_that_is_not_there_leads_into_the_queue(meet: Switchboard, match_id: str) -> None:
    """It may be over: the bot meets the next who comes."""
    one = meet.login(meet.auth(), login=resume(match_id))
    two = meet.login(meet.auth())
    meet.seated(one, two)


@pytest.mark.parametrize(
    "wrong", [{"resume": "abc"}, {"resume": 5}, {"session": "for ever"}, {"resume": "../../../../etc/passwd"}]
)
def test_what_a_login_asks_for_in_the_wrong_way_is_refused(meet: Switchboard, wrong: dict[str, object]) -> None:
    """With the field's name in the sentence."""
    reply = meet().log_in(meet.auth(), protocol=2, **wrong)
    assert (reply["authentication"], reply["code"]) == ("failed", "bad-message")
    assert next(iter(wrong)) in reply["error"]


def test_without_protocol_two_its_keys_mean_nothing(meet: Switchboard) -> None:
    """An original client that happens to send them is closed after its match as ever."""
    one = meet.login(meet.auth(), login={"session": "keep", "resume": "0" * 24, "protocol": 1})
    two = meet.login(meet.auth(), login={"session": "keep"})
    mover, _ = meet.seated(one, two)
    mover.send({"n": 10})
    for peer in (one, two):
        peer.final()
        assert peer.closed().code == 1000


def test_a_kept_session_that_hangs_up_with_the_match_leaves_no_ticket_behind(meet: Switchboard) -> None:
    """It goes back into the queue and away at the same moment; nobody may meet it there."""
    for _ in range(20):
        one, two = meet.login(meet.auth(), login=KEEP), meet.login(meet.auth(), login=KEEP)
        mover, other = meet.seated(one, two)
        mover.raw(frame(TEXT, b'{"n": 10}') + frame(CLOSE, b"\x03\xe8"))
        other.final()
        other.reset()
        meet.until_waiting(0)
