"""Whether every board is accounted for: what players were told against what is stored. None of the server's code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

Document = dict[str, Any]
Diaries = Mapping[str, Sequence[Document]]
Pages = dict[tuple[str, Any], list[Document]]  # (player, board or kind) -> entries

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
AWAY_S = 20.0  # before a board's beginning: a player away since then may have missed it
K, START = 30.0, 1200.0
SAME = 1e-6
# why a board ended -> what its loser must have noted about it
CONFESSED = {"invalid": "blunders", "timeout": "dawdles"}


@dataclass
class Books:
    """What is left at the end. `leftovers`: names of Redis keys, and what they still hold."""

    games: list[Document]
    diaries: Diaries
    ratings: list[Document]
    leftovers: dict[str, Any] = field(default_factory=dict)


def problems(books: Books, under_faults: bool = False) -> list[str]:
    """Returns a sentence for each thing that does not add up; none if every board is accounted for.

    `under_faults`: the node may have been killed or paused. Boards may be void then, and connections end.
    """
    diaries = {name: _as_leaving(diary) for name, diary in books.diaries.items()} if under_faults else books.diaries
    pages = _pages(diaries)
    return [
        *(f"{key} still holds {value}" for key, value in books.leftovers.items() if value),
        *_numbers(books.games),
        *([] if under_faults else _void(books.games)),
        *(sentence for game in books.games for sentence in _of_a_board(game, pages)),
        *(sentence for name, diary in diaries.items() for sentence in _of_a_diary(name, diary, books.games)),
        *_pairings(books.games, under_faults),
        *_elo(books.games, books.ratings),
    ]


def tally(books: Books) -> Document:
    """Returns counts for the report."""
    did = Counter(entry["what"] for diary in books.diaries.values() for entry in diary)
    return {
        "boards": len(books.games),
        "plies": sum(len(game["turns"]) for game in books.games),
        "reasons": dict(Counter(game["reason"] for game in books.games)),
        "players": len(books.diaries),
        "did": dict(did.most_common()),
    }


def number_of(game: Document) -> int:
    """Returns a board's number, as players are told it."""
    return int(game["match"]["series"]["number"])


def _as_leaving(diary: Sequence[Document]) -> list[Document]:
    """Returns the entries, a connection's end as if the player had left: it may have missed something."""
    return [{**entry, "what": "left"} if entry["what"] in ("closed", "failed") else entry for entry in diary]


def _void(games: Sequence[Document]) -> Iterator[str]:
    for game in games:
        if _is_void(game):
            yield f"{_named(game)} is void: {game['match']['evidence']}"


def _is_void(game: Document) -> bool:
    return bool(game["match"]["void"] or game["match"]["fault"] == "server")


def _named(game: Document) -> str:
    return f"board {number_of(game)} ({game['_id']})"


def _numbers(games: Sequence[Document]) -> Iterator[str]:
    counts = Counter(number_of(game) for game in games)
    yield from (f"{count} boards have the number {number}" for number, count in counts.items() if count > 1)
    by_begin = sorted(games, key=lambda game: game["startTime"])
    for one, two in pairwise(by_begin):
        # boards that begin at about the same time may be numbered in either order
        if number_of(two) < number_of(one) and (two["startTime"] - one["startTime"]).total_seconds() > 1.0:
            yield f"board {number_of(two)} began after board {number_of(one)}"


def _pages(diaries: Diaries) -> Pages:
    pages: Pages = defaultdict(list)
    for name, diary in diaries.items():
        for entry in diary:
            pages[name, entry["board"] if "board" in entry else entry["what"]].append(entry)
    return pages


def _of_a_board(game: Document, pages: Pages) -> Iterator[str]:
    number, name = number_of(game), _named(game)
    moves = [[turn["x"], turn["y"]] for turn in game["turns"]]
    if moves != game["moves"] or len({tuple(move) for move in moves}) != len(moves):
        yield f"{name}: its moves are not its turns"
    fives = [n for n in range(len(moves)) if _is_five(moves, n)]
    if (game["reason"] == "complete") != bool(fives) and len(moves) < 225:
        yield f"{name} ended by {game['reason']} with fives at {fives}"
    if fives and (fives != [len(moves) - 1] or game["victor"] != game["turns"][-1]["player"]):
        yield f"{name}: five in a row at {fives} of {len(moves)} moves, won by {game['victor']}"
    for n, turn in enumerate(game["turns"]):
        sent = {"board": number, "n": n, "move": moves[n]}
        if turn["player"] != game["players"][n % 2]:
            yield f"{name}: move {n} is {turn['player']}'s"
        elif not any(sent.items() <= entry.items() for entry in pages[turn["player"], number]):
            yield f"{name}: {turn['player']} has not sent {sent}"
    for player in game["players"]:
        yield from _of_a_player(name, player, game, pages)


def _of_a_player(name: str, player: str, game: Document, pages: Pages) -> Iterator[str]:
    number = number_of(game)
    begin_s, end_s = _epoch_s(game["startTime"]), _epoch_s(game["match"]["endTime"])
    was_away = any(begin_s - AWAY_S < entry["at_s"] <= end_s + 1.0 for entry in pages[player, "left"])
    ends = [entry["what"] for entry in pages[player, number] if entry["what"] in ("win", "lose")]
    due = [] if game["victor"] is None else ["win" if game["victor"] == player else "lose"]
    if ends != due and not (was_away and not ends):
        yield f"{name}: {player} was told {ends} instead of {due}"
    if game["victor"] in (player, None):
        return
    needed = CONFESSED.get(game["reason"])
    noted = any(entry["what"] == needed for entry in pages[player, number])
    if needed and not noted and not (game["reason"] == "timeout" and was_away):
        yield f"{name}: {player} lost by {game['reason']}, and does not know why"
    if game["reason"] == "disconnect" and not was_away:
        yield f"{name}: {player} lost by {game['reason']}, and has not left"


def _of_a_diary(name: str, diary: Sequence[Document], games: Sequence[Document]) -> Iterator[str]:
    stored = {number_of(game): game for game in games}
    for entry in diary:
        if entry["what"] in ("strange", "failed", "closed"):
            yield f"{name}: {entry}"
        if "board" not in entry:
            continue
        game = stored.get(entry["board"])
        if game is None:
            yield f"{name} was told of board {entry['board']}, which is nowhere"
        elif "moves" in entry:
            whole = entry["what"] in ("win", "lose")
            told = entry["moves"]
            if game["moves"][: len(told)] != told or (whole and game["moves"] != told):
                yield f"{name} was told other moves of board {entry['board']} than are stored"


def _pairings(games: Iterable[Document], under_faults: bool) -> Iterator[str]:
    by_series = sorted(games, key=lambda game: (game["match"]["series"]["id"], game["match"]["series"]["board"]))
    for series, boards in groupby(by_series, key=lambda game: game["match"]["series"]["id"]):
        played = list(boards)
        if under_faults and any(map(_is_void, played)):
            continue
        if [game["match"]["series"]["board"] for game in played] != [1, 2]:
            yield f"the pairing {series} has {len(played)} boards"
        elif played[0]["players"] != played[1]["players"][::-1]:
            yield f"the pairing {series} has not changed its first mover"


def _elo(games: Sequence[Document], kept: Sequence[Document]) -> Iterator[str]:
    elos: dict[str, float] = defaultdict(lambda: START)
    wins, played = Counter[str](), Counter[str]()
    for game in sorted(games, key=lambda game: game["match"]["seq"]):
        if game["match"]["void"]:
            continue
        one, two = game["players"]
        due = 1 / (1 + 10 ** ((elos[two] - elos[one]) / 400))
        gain = K * ((0.5 if game["victor"] is None else float(game["victor"] == one)) - due)
        elos[one], elos[two] = elos[one] + gain, elos[two] - gain
        played.update((one, two))
        wins[game["victor"]] += 1
    rows = {row["bot_id"]: row for row in kept}
    for name in sorted({*elos, *rows}):
        row = rows.get(name, {})
        if abs(row.get("elo", 0.0) - elos[name]) > SAME or (row["wins"], row["matches"]) != (wins[name], played[name]):
            yield f"{name} is rated {row}, and has Elo {elos[name]}, {wins[name]} wins of {played[name]} boards"


def _is_five(moves: Sequence[Sequence[int]], n: int) -> bool:
    """Returns whether the n-th move made five or more in a line, given its player's moves up to it."""
    own = {tuple(move) for move in moves[n % 2 : n + 1 : 2]}
    x, y = moves[n]
    for right, down in DIRECTIONS:
        line = "".join("X" if (x + k * right, y + k * down) in own else " " for k in range(-4, 5))
        if "XXXXX" in line:
            return True
    return False


def _epoch_s(moment: datetime) -> float:
    return moment.replace(tzinfo=UTC).timestamp()
