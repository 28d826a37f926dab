"""JSON as a hostile bot may send it: strategies for turns, logins, and what is neither."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

RIGHT = True  # stands for the right value, which is only known when the login is sent

odd = st.sampled_from([2**63, -(2**63) - 1, 2**64, 1e308, 0.0, 1.0, "", "X", "O", "\0", "$ref", "\ud800", "ok"])
scalars = st.none() | st.booleans() | st.integers(-3, 12) | st.integers() | st.floats() | odd | st.text(max_size=8)
keys = st.text(max_size=5) | st.sampled_from(
    ["n", "mark", "space", "column", "version", "player", "valid", "time", "state", "$ref", "a\0b", "", "__proto__"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)
extra_keys = st.dictionaries(keys, odd | values, max_size=2)
# valid in one of the games, apart from extra keys
right_turns = (
    st.fixed_dictionaries({"n": st.integers(-2, 10)})
    | st.fixed_dictionaries({"mark": st.sampled_from("XO"), "space": st.tuples(st.integers(0, 2), st.integers(0, 2))})
    | st.fixed_dictionaries({"column": st.integers(0, 6)})
)
odd_turns = st.fixed_dictionaries(
    {},
    optional={
        "n": values | st.integers(-10, 10),
        "mark": st.sampled_from(["X", "O"]) | values,
        "space": st.lists(st.integers(-1, 3), min_size=2, max_size=2) | values,
        "column": st.integers(-1, 7) | values,
        "version": st.integers(-1, 5) | values,
        "player": values,
        "valid": values,
        "time": values,
    },
)
turns = st.builds(lambda turn, more: {**more, **turn}, right_turns | odd_turns, extra_keys)
good_login = {"game": st.just(RIGHT), "bot_id": st.just(RIGHT), "login_hash": st.just(RIGHT)}
extras: dict[str, st.SearchStrategy[Any]] = {
    "contest": st.none() | st.just("") | st.just("fuzzed") | values,
    "protocol": st.sampled_from([1, 2, 2.0, "2"]) | values,
    "session": st.sampled_from(["keep", "single", "x"]) | values,
    "resume": st.just("0" * 24) | values,
}
# some with all that a login needs, correct; others with any value anywhere
logins = st.fixed_dictionaries(good_login, optional=extras) | st.fixed_dictionaries(
    {},
    optional={
        "game": st.just(RIGHT) | st.sampled_from(["connectfour", "chess", "../x"]) | values,
        "bot_id": st.just(RIGHT) | values,
        "login_hash": st.just(RIGHT) | st.just("0" * 64) | values,
        **extras,
    },
)
ODD = ["", "{", "{}", "[]", "nul", '{"n": NaN}', '{"n": 1, "n": 2}', "[" * 2000, '{"a":' * 30 + "1" + "}" * 30]
texts = turns.map(json.dumps) | values.map(json.dumps) | st.sampled_from(ODD) | st.text(max_size=40)
