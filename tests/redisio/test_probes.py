"""What a node says of Redis in /readyz."""

from __future__ import annotations

import re
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio import inspection
from battlebot.redisio.connection import connect
from battlebot.redisio.probes import Probes


@pytest.mark.parametrize(("off_s", "told"), [(-300.0, "behind"), (10.0, "ahead of")])
def test_a_wrong_clock_is_told(off_s: float, told: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a node is taken for dead again and again, and nothing else would say why."""
    with closing(connect(settings.redis_url)) as client:
        Probes(client).clock()
        monkeypatch.setattr(inspection, "time", SimpleNamespace(time=lambda: time.time() + off_s))
        with pytest.raises(Unavailable) as raised:
            Probes(client).clock()
    found = re.fullmatch(r"The clock of this node's machine is (\d+\.\d) s (.+) that of Redis\.", str(raised.value))
    assert found is not None
    # the less exact, the longer Redis takes to answer
    assert (float(found[1]), found[2]) == (pytest.approx(abs(off_s), abs=3.0), told)


def test_a_slow_answer_is_no_wrong_clock(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the time that it took is unsure."""
    moments = iter([time.time() - 30.0, time.time()])
    with closing(connect(settings.redis_url)) as client:
        monkeypatch.setattr(inspection, "time", SimpleNamespace(time=lambda: next(moments)))
        Probes(client).clock()
