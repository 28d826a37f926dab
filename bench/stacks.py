"""`python -m bench.stacks FILE`: the time in a profile by function. FILE is the output of `--profile FILE`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

LINE = re.compile(r":\d+\)$")  # the line number at the end of a frame, dropped to sum up by function


def shares(stacks: str) -> tuple[dict[str, float], dict[str, float]]:
    """Percent of the samples in each function itself, and including its calls. `stacks`: lines `frame;frame count`."""
    own, inclusive = Counter[str](), Counter[str]()
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [LINE.sub(")", frame) for frame in stack.split(";")]
        own[frames[-1]] += int(count)
        for frame in set(frames):
            inclusive[frame] += int(count)
    total = max(1, own.total())
    by_itself, with_calls = ({f: 100 * n / total for f, n in counted.most_common()} for counted in (own, inclusive))
    return by_itself, with_calls


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--top", default=30, show_default=True, help="Number of functions to print.")
def main(file: Path, top: int) -> None:
    """Print the functions that took the most time, by themselves and including callees."""
    for title, percent in zip(("by itself", "with what it called"), shares(file.read_text()), strict=True):
        table = Table("percent", "function", title=title)
        for frame, share in list(percent.items())[:top]:
            table.add_row(f"{share:.1f}", frame)
        Console(width=110).print(table)


if __name__ == "__main__":
    main()
