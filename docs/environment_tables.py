"""Writes the index tables of docs/environment.md and docs/wrappers.md from the code.

Run it after a change of `crib_env/observation.py` or `crib_env/derived.py`: ``python
docs/environment_tables.py``. A test fails where a page and the code differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crib_env.derived import derived_layout
from crib_env.observation import Field, layout, privileged_layout
from crib_env.rules import Rules

DOCS = Path(__file__).parent
# The tables of each page, and how their entries are given.
TABLES = {
    "environment.md": {
        "observation": (layout, "`uint8` from 0 to its highest value"),
        "privileged": (privileged_layout, "`uint8` from 0 to its highest value"),
    },
    "wrappers.md": {"derived": (derived_layout, "`float32` from 0 to 1")},
}


def table(fields: Mapping[str, Field], entries: str) -> str:
    """Returns the named slices of a vector as a table, with its length above."""
    size = max(field.stop for field in fields.values())
    lines = [
        f"{size} entries, each a {entries}:",
        "",
        "| slice | field | highest | meaning |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{field.start}:{field.stop}` | `{name}` | {field.high} | {field.meaning} |"
        for name, field in fields.items()
    ]
    return "\n".join(lines)


def updated(page: str, name: str) -> str:
    """Returns a page with its tables as the code has them.

    Args:
        page: The text.
        name: The file's name, a key of `TABLES`.

    Raises:
        ValueError: If a table's two marks are not both there, once.
    """
    for mark, (fields, entries) in TABLES[name].items():
        begin, end = f"<!-- {mark} table -->\n", f"<!-- end of {mark} table -->\n"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"docs/{name}: the marks of the {mark} table are not there once")
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}\n{table(fields(Rules()), entries)}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    for name in TABLES:
        path = DOCS / name
        path.write_text(updated(path.read_text(encoding="utf-8"), name), encoding="utf-8")
