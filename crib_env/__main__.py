"""``python -m crib_env score CARDS``: the library's own small command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from crib_env.cards import cards_text
from crib_env.explain import explain, say


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status: 0, or 2 if refused, in one line."""
    parser = argparse.ArgumentParser(prog="python -m crib_env")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    score = commands.add_parser("score", help="count a hand or crib as players do")
    score.add_argument("cards", nargs="+", metavar="CARD", help="four cards, then the starter")
    score.add_argument("--crib", action="store_true", help="a crib: a flush needs the starter")
    options = parser.parse_args(arguments)
    words = " ".join(options.cards).upper().split()
    try:
        parts = explain(" ".join(words[:-1]), words[-1], options.crib)
    except ValueError as error:
        print(f"score: {error}", file=sys.stderr)
        return 2
    for part in parts:
        print(f"{part.points:3}  {part.kind:20} {cards_text(part.cards)}")
    print(f"{sum(part.points for part in parts):3}  {say(parts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
