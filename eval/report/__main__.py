"""``python -m eval.report DB``: writes a report of a tournament's games as HTML and Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from eval.provenance import check_writable
from eval.report.writing import TITLE, write_report


@dataclass(frozen=True)
class Options:
    """Writes a report of the games in a file that eval.tournament made."""

    database: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DB")]
    """The file with the games."""
    html: Path | None = None
    """The page; by default beside the games, with the suffix .html."""
    markdown: Path | None = None
    """The same in Markdown, without pictures; by default with the suffix .md."""
    title: str = TITLE
    """Its heading."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status: 0, 1 not written, 2 refused."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = tyro.cli(Options, prog="python -m eval.report", args=arguments)
    html = options.html or options.database.with_suffix(".html")
    markdown = options.markdown or options.database.with_suffix(".md")
    try:
        if not options.database.is_file():
            raise ValueError(f"{options.database}: there is no such file")
        for path in (html, markdown):
            if path.resolve() == options.database.resolve():
                raise ValueError(f"{path}: holds the games")
            check_writable(path)
        write_report(options.database, html, markdown, options.title)
    except ValueError as error:
        print(f"eval.report: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"eval.report: not written: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"wrote {html} and {markdown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
