"""Writes a report as HTML and Markdown."""

from __future__ import annotations

from pathlib import Path

from eval.provenance import write_text

TITLE = "Cribbage tournament"


def write_report(database: Path, html: Path, markdown: Path, title: str = TITLE) -> None:
    """Writes a report, each file whole or not at all.

    Raises:
        ValueError: If there is nothing to report, or a file cannot be written to its place.
        OSError: If writing fails.
    """
    # matplotlib is slow to import: refusals come first.
    from eval.report import content, page

    sections = content.sections(database)
    write_text(html, page.html(sections, title))
    write_text(markdown, page.markdown(sections, title))
