"""Macondo's messages: our .proto and its stub, histories to protobuf and back, requests and responses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.json_format import ParseDict
from histories import from_protobuf
from hypothesis import given, settings
from hypothesis import strategies as st

from battlebot.errors import BadMessage
from battlebot.wire.macondo import history, macondo_pb2
from battlebot.wire.macondo.history import normal, to_protobuf
from battlebot.wire.macondo.subject import problem_of

FOLDER = Path(macondo_pb2.__file__).parent

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=6)
numbers = st.integers(-(2**31), 2**31 - 1)
wholes = st.integers(0, 2**32 - 1)


def messages(descriptor: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Any message of a type, as its JSON, any of its fields left out."""
    return st.fixed_dictionaries({}, optional={field.name: values(field) for field in descriptor.fields})


def values(field: Any) -> st.SearchStrategy[Any]:
    """Any value of a field."""
    kinds = {
        field.CPPTYPE_INT32: numbers,
        field.CPPTYPE_UINT32: wholes,
        field.CPPTYPE_BOOL: st.booleans(),
        field.CPPTYPE_STRING: texts,
    }
    if field.message_type is not None:
        one = messages(field.message_type)
    elif field.enum_type is not None:
        one = st.sampled_from([value.name for value in field.enum_type.values])
    else:
        one = kinds[field.cpp_type]
    return st.lists(one, max_size=4) if field.is_repeated else one


histories = messages(macondo_pb2.GameHistory.DESCRIPTOR)


def test_stub_and_proto_agree(tmp_path: Path) -> None:
    """What protoc makes of the .proto now is what the committed stub holds; `make stubs` makes it so."""
    made = tmp_path / "descriptors"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{FOLDER}", f"--descriptor_set_out={made}"]
    subprocess.run([*command, str(FOLDER / "macondo.proto")], check=True, timeout=60)
    compiled = descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file[0]
    committed = descriptor_pb2.FileDescriptorProto()
    macondo_pb2.DESCRIPTOR.CopyToProto(committed)
    for message in compiled.message_type:
        for field in message.field:
            field.ClearField("json_name")
    assert compiled == committed


# the protocol page, word for word: the message, then `number name` of its fields
PAGE = {
    "GameHistory": (
        "1 events 2 players 3 version 4 original_gcg 5 lexicon 6 id_auth 7 uid 8 title 9 description "
        "10 last_known_racks 11 second_went_first 12 challenge_rule 13 play_state 14 final_scores 15 variant 16 winner "
        "17 board_layout 18 letter_distribution 19 starting_cgp"
    ),
    "GameEvent": (
        "1 nickname 2 note 3 rack 4 type 5 cumulative 6 row 7 column 8 direction 9 position 10 played_tiles "
        "11 exchanged 12 score 13 bonus 14 end_rack_points 15 lost_score 16 is_bingo 17 words_formed "
        "18 millis_remaining 19 player_index 20 num_tiles_from_rack"
    ),
    "PlayerInfo": "1 nickname 2 real_name 3 user_id",
    "BotRequest": "1 game_history 2 evaluation_request 3 bot_type 4 millis_remaining",
    "BotResponse": "1 move 2 error 3 eval 4 game_id",
    "EvaluationRequest": "1 user",
}
ENUMS = {
    "PlayState": "PLAYING 0 WAITING_FOR_FINAL_PASS 1 GAME_OVER 2",
    "ChallengeRule": "VOID 0 SINGLE 1 DOUBLE 2 FIVE_POINT 3 TEN_POINT 4 TRIPLE 5",
    "GameEvent.Type": (
        "TILE_PLACEMENT_MOVE 0 PHONY_TILES_RETURNED 1 PASS 2 CHALLENGE_BONUS 3 EXCHANGE 4 END_RACK_PTS 5 "
        "TIME_PENALTY 6 END_RACK_PENALTY 7 UNSUCCESSFUL_CHALLENGE_TURN_LOSS 8 CHALLENGE 9"
    ),
    "GameEvent.Direction": "HORIZONTAL 0 VERTICAL 1",
    "BotRequest.BotCode": "HASTY_BOT 0 UNKNOWN 100",
}


@pytest.mark.parametrize("name", PAGE)
def test_fields_have_the_numbers_of_the_protocol(name: str) -> None:
    """An original bot reads and writes by them."""
    fields = macondo_pb2.DESCRIPTOR.message_types_by_name[name].fields
    assert " ".join(f"{field.number} {field.name}" for field in fields) == PAGE[name]


@pytest.mark.parametrize("name", ENUMS)
def test_enums_have_the_values_of_the_protocol(name: str) -> None:
    """Also those within messages."""
    outer, _, inner = name.partition(".")
    found = macondo_pb2.DESCRIPTOR.message_types_by_name[outer].enum_types_by_name[inner] if inner else None
    found = found or macondo_pb2.DESCRIPTOR.enum_types_by_name[outer]
    assert " ".join(f"{value.name} {value.number}" for value in found.values) == ENUMS[name]


def test_bytes_on_the_wire_are_those_of_the_protocol() -> None:
    """Written by hand: field number and kind, then the value."""
    event = {"type": "EXCHANGE", "player_index": 1, "exchanged": "QV", "cumulative": -3}
    data = to_protobuf({"events": [event], "challenge_rule": "TRIPLE", "winner": -1})
    minus_three = b"\xfd" + b"\xff" * 8 + b"\x01"
    inner = b"\x20\x04" + b"\x28" + minus_three + b"\x5a\x02QV" + b"\x98\x01\x01"
    minus_one = b"\xff" * 9 + b"\x01"
    assert data == b"\x0a" + bytes([len(inner)]) + inner + b"\x60\x05" + b"\x80\x01" + minus_one


@given(histories)
@settings(max_examples=150, deadline=None)
def test_histories_convert_to_protobuf_and_back_unchanged(given_history: dict[str, Any]) -> None:
    """Nothing is lost, and nothing else comes: the same bytes again, too."""
    whole = normal(given_history)
    data = to_protobuf(given_history)
    assert from_protobuf(data) == whole
    assert to_protobuf(whole) == data
    assert ParseDict(whole, macondo_pb2.GameHistory()) == macondo_pb2.GameHistory.FromString(data)


@given(histories, wholes.filter(lambda n: n < 2**31))
@settings(max_examples=50, deadline=None)
def test_requests_hold_the_history_and_the_time(given_history: dict[str, Any], millis: int) -> None:
    """As a bot reads them."""
    sent = macondo_pb2.GameHistory.FromString(to_protobuf(given_history))
    request = macondo_pb2.BotRequest(game_history=sent, millis_remaining=millis)
    assert history.from_request(request.SerializeToString()) == (normal(given_history), millis)


def test_responses_hold_an_event_or_an_error() -> None:
    """A play of zeros is a play; an error is an error, with the bot's words. What does not count is not read."""
    move = {"type": "TILE_PLACEMENT_MOVE", "position": "8D", "played_tiles": "HELLO"}
    assert history.from_response(history.to_response(move, uid="m")) == move
    much = {"player_index": 1, "score": 9, "words_formed": [""] * 9, "note": "x"}
    assert history.from_response(history.to_response({"type": "PASS", "rack": "A?", **much})) == {
        "type": "PASS",
        "rack": "A?",
    }
    assert history.from_response(b"\x0a\x02\x20\x2a") == {"type": 42}
    with pytest.raises(BadMessage, match="The bot says: out of memory"):
        history.from_response(history.to_response(None, "out of memory"))


def test_a_bots_error_cannot_turn_the_text_around_it() -> None:
    """Control characters and what is not seen are spelled out: it is shown on pages, and in the terminals of others."""
    with pytest.raises(BadMessage) as refused:
        history.from_response(history.to_response(None, "a\n\x1b[2J\u202eb\u200b\u2028c"))
    assert str(refused.value) == r"The bot says: a\n\x1b[2J\u202eb\u200b\u2028c"


@pytest.mark.parametrize("data", [b"", b"\x22\x01m", b"\xff", b"\x0a\x7f", b"hello"])
def test_what_is_no_response_is_refused(data: bytes) -> None:
    """Empty, cut, something else."""
    with pytest.raises(BadMessage):
        history.from_response(data)


@pytest.mark.parametrize("wrong", [{"events": 3}, {"evts": []}, {"version": "x"}, {"challenge_rule": "NONE"}])
def test_what_is_no_history_is_refused(wrong: dict[str, Any]) -> None:
    """With a sentence."""
    with pytest.raises(BadMessage, match="no GameHistory"):
        normal(wrong)


def test_unknown_fields_of_other_programs_are_left_out() -> None:
    """A newer program's field 40 is none of our business."""
    newer = to_protobuf({"uid": "m"}) + b"\xc2\x02\x02hi"
    read, _ = history.from_request(b"\x0a" + bytes([len(newer)]) + newer)
    assert read == {"uid": "m", "events": []}
    assert b"hi" not in to_protobuf(read)


@pytest.mark.parametrize("subject", ["bot.commands", "a", "A-1_b.c", "x._R_._INBOX", ".".join(["x" * 64] * 16)])
def test_a_bot_may_listen_on_most_subjects(subject: str) -> None:
    """Up to sixteen words of up to 64 letters."""
    assert problem_of(subject) == ""


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        *[(wrong, "no wildcards") for wrong in ("", "a b", "a.*", ">", "a..b", ".a", "a.", "ä", "a\n", "$SYS.x")],
        *[(wrong, "no wildcards") for wrong in ("x" * 65, "a." + "x" * 65, ".".join("x" * 17))],
        *[
            (name + end, "not a bot's")
            for name in ("bot.publish_event", "_INBOX", "_R_", "_GR_")
            for end in ("", ".x", "_me.x")
        ],
    ],
)
def test_a_bot_may_not_listen_where_others_do(subject: str, why: str) -> None:
    """Nor at more than one place; `_INBOX_me` is the prefix of a bot's own inboxes, as docs/nats.md has it."""
    assert why in problem_of(subject)
