"""`python -m games.crossword NAME`: writes the word graph of a list beside it, so that processes load it faster."""

from __future__ import annotations

import argparse

from games.crossword.lexicon import build, names

parser = argparse.ArgumentParser(prog="python -m games.crossword", description="Writes the word graph of a list.")
parser.add_argument("name", choices=names())
build(parser.parse_args().name)
