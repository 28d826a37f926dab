from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlayState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAYING: _ClassVar[PlayState]
    WAITING_FOR_FINAL_PASS: _ClassVar[PlayState]
    GAME_OVER: _ClassVar[PlayState]

class ChallengeRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VOID: _ClassVar[ChallengeRule]
    SINGLE: _ClassVar[ChallengeRule]
    DOUBLE: _ClassVar[ChallengeRule]
    FIVE_POINT: _ClassVar[ChallengeRule]
    TEN_POINT: _ClassVar[ChallengeRule]
    TRIPLE: _ClassVar[ChallengeRule]
PLAYING: PlayState
WAITING_FOR_FINAL_PASS: PlayState
GAME_OVER: PlayState
VOID: ChallengeRule
SINGLE: ChallengeRule
DOUBLE: ChallengeRule
FIVE_POINT: ChallengeRule
TEN_POINT: ChallengeRule
TRIPLE: ChallengeRule

class GameHistory(_message.Message):
    __slots__ = ("events", "players", "version", "original_gcg", "lexicon", "id_auth", "uid", "title", "description", "last_known_racks", "second_went_first", "challenge_rule", "play_state", "final_scores", "variant", "winner", "board_layout", "letter_distribution", "starting_cgp")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_GCG_FIELD_NUMBER: _ClassVar[int]
    LEXICON_FIELD_NUMBER: _ClassVar[int]
    ID_AUTH_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LAST_KNOWN_RACKS_FIELD_NUMBER: _ClassVar[int]
    SECOND_WENT_FIRST_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_RULE_FIELD_NUMBER: _ClassVar[int]
    PLAY_STATE_FIELD_NUMBER: _ClassVar[int]
    FINAL_SCORES_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    BOARD_LAYOUT_FIELD_NUMBER: _ClassVar[int]
    LETTER_DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    STARTING_CGP_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[GameEvent]
    players: _containers.RepeatedCompositeFieldContainer[PlayerInfo]
    version: int
    original_gcg: str
    lexicon: str
    id_auth: str
    uid: str
    title: str
    description: str
    last_known_racks: _containers.RepeatedScalarFieldContainer[str]
    second_went_first: bool
    challenge_rule: ChallengeRule
    play_state: PlayState
    final_scores: _containers.RepeatedScalarFieldContainer[int]
    variant: str
    winner: int
    board_layout: str
    letter_distribution: str
    starting_cgp: str
    def __init__(self, events: _Optional[_Iterable[_Union[GameEvent, _Mapping]]] = ..., players: _Optional[_Iterable[_Union[PlayerInfo, _Mapping]]] = ..., version: _Optional[int] = ..., original_gcg: _Optional[str] = ..., lexicon: _Optional[str] = ..., id_auth: _Optional[str] = ..., uid: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., last_known_racks: _Optional[_Iterable[str]] = ..., second_went_first: _Optional[bool] = ..., challenge_rule: _Optional[_Union[ChallengeRule, str]] = ..., play_state: _Optional[_Union[PlayState, str]] = ..., final_scores: _Optional[_Iterable[int]] = ..., variant: _Optional[str] = ..., winner: _Optional[int] = ..., board_layout: _Optional[str] = ..., letter_distribution: _Optional[str] = ..., starting_cgp: _Optional[str] = ...) -> None: ...

class GameEvent(_message.Message):
    __slots__ = ("nickname", "note", "rack", "type", "cumulative", "row", "column", "direction", "position", "played_tiles", "exchanged", "score", "bonus", "end_rack_points", "lost_score", "is_bingo", "words_formed", "millis_remaining", "player_index", "num_tiles_from_rack")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TILE_PLACEMENT_MOVE: _ClassVar[GameEvent.Type]
        PHONY_TILES_RETURNED: _ClassVar[GameEvent.Type]
        PASS: _ClassVar[GameEvent.Type]
        CHALLENGE_BONUS: _ClassVar[GameEvent.Type]
        EXCHANGE: _ClassVar[GameEvent.Type]
        END_RACK_PTS: _ClassVar[GameEvent.Type]
        TIME_PENALTY: _ClassVar[GameEvent.Type]
        END_RACK_PENALTY: _ClassVar[GameEvent.Type]
        UNSUCCESSFUL_CHALLENGE_TURN_LOSS: _ClassVar[GameEvent.Type]
        CHALLENGE: _ClassVar[GameEvent.Type]
    TILE_PLACEMENT_MOVE: GameEvent.Type
    PHONY_TILES_RETURNED: GameEvent.Type
    PASS: GameEvent.Type
    CHALLENGE_BONUS: GameEvent.Type
    EXCHANGE: GameEvent.Type
    END_RACK_PTS: GameEvent.Type
    TIME_PENALTY: GameEvent.Type
    END_RACK_PENALTY: GameEvent.Type
    UNSUCCESSFUL_CHALLENGE_TURN_LOSS: GameEvent.Type
    CHALLENGE: GameEvent.Type
    class Direction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HORIZONTAL: _ClassVar[GameEvent.Direction]
        VERTICAL: _ClassVar[GameEvent.Direction]
    HORIZONTAL: GameEvent.Direction
    VERTICAL: GameEvent.Direction
    NICKNAME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    RACK_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CUMULATIVE_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PLAYED_TILES_FIELD_NUMBER: _ClassVar[int]
    EXCHANGED_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    BONUS_FIELD_NUMBER: _ClassVar[int]
    END_RACK_POINTS_FIELD_NUMBER: _ClassVar[int]
    LOST_SCORE_FIELD_NUMBER: _ClassVar[int]
    IS_BINGO_FIELD_NUMBER: _ClassVar[int]
    WORDS_FORMED_FIELD_NUMBER: _ClassVar[int]
    MILLIS_REMAINING_FIELD_NUMBER: _ClassVar[int]
    PLAYER_INDEX_FIELD_NUMBER: _ClassVar[int]
    NUM_TILES_FROM_RACK_FIELD_NUMBER: _ClassVar[int]
    nickname: str
    note: str
    rack: str
    type: GameEvent.Type
    cumulative: int
    row: int
    column: int
    direction: GameEvent.Direction
    position: str
    played_tiles: str
    exchanged: str
    score: int
    bonus: int
    end_rack_points: int
    lost_score: int
    is_bingo: bool
    words_formed: _containers.RepeatedScalarFieldContainer[str]
    millis_remaining: int
    player_index: int
    num_tiles_from_rack: int
    def __init__(self, nickname: _Optional[str] = ..., note: _Optional[str] = ..., rack: _Optional[str] = ..., type: _Optional[_Union[GameEvent.Type, str]] = ..., cumulative: _Optional[int] = ..., row: _Optional[int] = ..., column: _Optional[int] = ..., direction: _Optional[_Union[GameEvent.Direction, str]] = ..., position: _Optional[str] = ..., played_tiles: _Optional[str] = ..., exchanged: _Optional[str] = ..., score: _Optional[int] = ..., bonus: _Optional[int] = ..., end_rack_points: _Optional[int] = ..., lost_score: _Optional[int] = ..., is_bingo: _Optional[bool] = ..., words_formed: _Optional[_Iterable[str]] = ..., millis_remaining: _Optional[int] = ..., player_index: _Optional[int] = ..., num_tiles_from_rack: _Optional[int] = ...) -> None: ...

class PlayerInfo(_message.Message):
    __slots__ = ("nickname", "real_name", "user_id")
    NICKNAME_FIELD_NUMBER: _ClassVar[int]
    REAL_NAME_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    nickname: str
    real_name: str
    user_id: str
    def __init__(self, nickname: _Optional[str] = ..., real_name: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class EvaluationRequest(_message.Message):
    __slots__ = ("user",)
    USER_FIELD_NUMBER: _ClassVar[int]
    user: str
    def __init__(self, user: _Optional[str] = ...) -> None: ...

class Evaluation(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BotRequest(_message.Message):
    __slots__ = ("game_history", "evaluation_request", "bot_type", "millis_remaining")
    class BotCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HASTY_BOT: _ClassVar[BotRequest.BotCode]
        UNKNOWN: _ClassVar[BotRequest.BotCode]
    HASTY_BOT: BotRequest.BotCode
    UNKNOWN: BotRequest.BotCode
    GAME_HISTORY_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_REQUEST_FIELD_NUMBER: _ClassVar[int]
    BOT_TYPE_FIELD_NUMBER: _ClassVar[int]
    MILLIS_REMAINING_FIELD_NUMBER: _ClassVar[int]
    game_history: GameHistory
    evaluation_request: EvaluationRequest
    bot_type: BotRequest.BotCode
    millis_remaining: int
    def __init__(self, game_history: _Optional[_Union[GameHistory, _Mapping]] = ..., evaluation_request: _Optional[_Union[EvaluationRequest, _Mapping]] = ..., bot_type: _Optional[_Union[BotRequest.BotCode, str]] = ..., millis_remaining: _Optional[int] = ...) -> None: ...

class BotResponse(_message.Message):
    __slots__ = ("move", "error", "eval", "game_id")
    MOVE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EVAL_FIELD_NUMBER: _ClassVar[int]
    GAME_ID_FIELD_NUMBER: _ClassVar[int]
    move: GameEvent
    error: str
    eval: Evaluation
    game_id: str
    def __init__(self, move: _Optional[_Union[GameEvent, _Mapping]] = ..., error: _Optional[str] = ..., eval: _Optional[_Union[Evaluation, _Mapping]] = ..., game_id: _Optional[str] = ...) -> None: ...
