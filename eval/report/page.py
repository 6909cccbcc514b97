"""A report written out: one HTML page that needs nothing else, and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from eval.report.content import Picture, Section, TableOf

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #111; background: #fff; margin: 0 auto;
  max-width: 56rem; padding: 1rem; overflow-wrap: break-word; }
h1, h2 { line-height: 1.2; }
h2 { border-top: 1px solid #999; margin-top: 2rem; padding-top: 1rem; }
.box { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #bbb; padding: .25rem .5rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1rem 0; }
figure svg { display: block; width: 100%; height: auto; background: #fff; }
figcaption { font-size: .875rem; }
@media print { .box { overflow: visible; } }
"""


def html(sections: Sequence[Section], title: str) -> str:
    """Returns a report as a page in HTML that loads nothing from anywhere."""
    body = []
    for section in sections:
        body.append(f"<h2>{escape(section.title)}</h2>")
        for part in section.parts:
            if isinstance(part, TableOf):
                body.append(_html_table(part))
            elif isinstance(part, Picture):
                words = escape(part.words)
                picture = part.svg.replace("<svg", f'<svg role="img" aria-label="{words}"', 1)
                body.append(f"<figure>{picture}<figcaption>{words}</figcaption></figure>")
            else:
                body.append(f"<p>{escape(part)}</p>")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def _html_table(table: TableOf) -> str:
    """Returns a table in HTML, in a box of its own that scrolls where it is too wide."""
    head, *rows = table.rows
    lines = ["".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)]
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        lines.append(f'<th scope="row">{escape(first)}</th>{cells}')
    return (
        '<div class="box"><table>'
        + "".join(f"<tr>{line}</tr>" for line in lines)
        + "</table></div>"
    )


def markdown(sections: Sequence[Section], title: str) -> str:
    """Returns a report in Markdown: its words and all its numbers; pictures are for the page."""
    lines = [f"# {_plain(title)}"]
    for section in sections:
        lines.append(f"## {_plain(section.title)}")
        for part in section.parts:
            if isinstance(part, TableOf):
                head, *rows = part.rows
                rule = ["---"] + ["---:"] * (len(head) - 1)
                cells = [[_plain(cell) for cell in row] for row in (head, *rows)]
                lines.append(
                    "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:]))
                )
            elif isinstance(part, str):
                lines.append(_plain(part))
    return "\n\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Returns a text of which Markdown makes nothing else."""
    for mark in "\\`*_|<>":
        text = text.replace(mark, "\\" + mark)
    return text
