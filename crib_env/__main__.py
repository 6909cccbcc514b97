"""``python -m crib_env score CARDS`` and ``check FILES``: the library's own small command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from crib_env.cards import cards_text
from crib_env.explain import explain, say


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0; 1 if a file holds what is no game; 2 if the command is refused, in one line; 130 if
    interrupted.
    """
    parser = argparse.ArgumentParser(prog="python -m crib_env")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    score = commands.add_parser("score", help="count a hand or crib as players do")
    score.add_argument("cards", nargs="+", metavar="CARD", help="four cards, then the starter")
    score.add_argument("--crib", action="store_true", help="a crib: a flush needs the starter")
    check = commands.add_parser("check", help="check games written down (docs/notation.md)")
    check.add_argument("files", nargs="+", metavar="FILE", help="a file of games; - reads stdin")
    check.add_argument(
        "--write", action="store_true", help="print the games with all that they leave out"
    )
    options = parser.parse_args(arguments)
    if options.command == "score":
        return _score(options.cards, options.crib)
    try:
        return _check(options.files, options.write)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read has gone; what Python still would write at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _score(cards: Sequence[str], is_crib: bool) -> int:
    """Counts a hand or a crib."""
    words = " ".join(cards).upper().split()
    try:
        parts = explain(" ".join(words[:-1]), words[-1], is_crib)
    except ValueError as error:
        print(f"score: {error}", file=sys.stderr)
        return 2
    for part in parts:
        print(f"{part.points:3}  {part.kind:20} {cards_text(part.cards)}")
    print(f"{sum(part.points for part in parts):3}  {say(parts)}")
    return 0


def _check(names: Sequence[str], write_out: bool) -> int:
    """Checks every game of some files: one line a game, errors on standard error."""
    # The engine is compiled or loaded for this alone: `score` needs none of it.
    from crib_env.notation.checking import check
    from crib_env.notation.writer import write

    status = 0
    written = False
    for name in names:
        shown = "stdin" if name == "-" else name
        try:
            with open(0 if name == "-" else name, "rb", closefd=name != "-") as file:
                for report in check(file):
                    if report.replay is None:
                        print(f"{shown}:{report.line}: {report.text}", file=sys.stderr)
                        status = 1
                    elif write_out:
                        print("\n" * written + write(report.replay.transcript), end="")
                        written = True
                    else:
                        print(f"{shown}:{report.line}: {report.text}")
        except BrokenPipeError:
            raise
        except OSError as error:
            print(f"{shown}: cannot be read: {error.strerror}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
