"""Close frames: every code may be sent, every reason fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from battlebot.wire import closing
from battlebot.wire.closing import MAX_REASON_BYTES, Closing

ALL = {name: value for name, value in vars(closing).items() if isinstance(value, Closing)}
# RFC 6455, section 7.4.1, without the additions of the registry it opened: original clients raise an error for those
MAY_BE_SENT = {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011}


@pytest.mark.parametrize("name", ALL)
def test_every_closing_can_be_sent_whole(name: str) -> None:
    """Nothing of ours is cut off, and nothing needs more than ASCII."""
    ending = ALL[name]
    assert ending.status in MAY_BE_SENT
    assert len(ending.reason) <= MAX_REASON_BYTES
    assert ending.reason.isascii()
    assert ending.reason == (f"{ending.slug}: {ending.sentence}" if ending.slug else "")


def test_slugs_tell_the_closings_apart() -> None:
    """A client's program goes by the slug."""
    assert len({ending.slug for ending in ALL.values()}) == len(ALL)


def test_the_end_of_a_match_is_a_normal_close() -> None:
    """Protocol page, 7: 1000; original clients read nothing else."""
    assert (closing.MATCH_OVER.status, closing.MATCH_OVER.reason) == (1000, "")


@pytest.mark.parametrize("letter", ["a", "é", "€", "🤖"])
@pytest.mark.parametrize("before", range(5))
def test_a_reason_is_cut_between_characters(letter: str, before: int) -> None:
    """At 123 bytes or up to three before them, never within a character."""
    reason = Closing(1008, "", "x" * before + letter * 200).reason
    size = len(reason.encode())
    assert MAX_REASON_BYTES - len(letter.encode()) < size <= MAX_REASON_BYTES
    assert reason == "x" * before + letter * ((size - before) // len(letter.encode()))


@given(st.text(alphabet="ab-"), st.text())
def test_no_reason_is_too_long(slug: str, sentence: str) -> None:
    """Whatever the sentence holds."""
    ending = Closing(1008, slug, sentence)
    assert len(ending.reason.encode()) <= MAX_REASON_BYTES
    assert f"{slug}: {sentence}".startswith(ending.reason) or sentence.startswith(ending.reason)
