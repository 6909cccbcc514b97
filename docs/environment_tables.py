"""Writes the index tables of docs/environment.md from the code.

Run it after a change of `crib_env/observation.py`: ``python docs/environment_tables.py``. A test
fails where the page and the code differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crib_env.observation import Field, layout, privileged_layout
from crib_env.rules import Rules

PAGE = Path(__file__).with_name("environment.md")


def table(fields: Mapping[str, Field]) -> str:
    """Returns the named slices of a vector as a table, with its length above."""
    size = max(field.stop for field in fields.values())
    lines = [
        f"{size} entries, each a `uint8` from 0 to its highest value:",
        "",
        "| slice | field | highest | meaning |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{field.start}:{field.stop}` | `{name}` | {field.high} | {field.meaning} |"
        for name, field in fields.items()
    ]
    return "\n".join(lines)


def updated(page: str) -> str:
    """Returns the page with its tables as the code has them.

    Raises:
        ValueError: If a table's two marks are not both there, once.
    """
    rules = Rules()
    tables = {"observation": layout(rules), "privileged": privileged_layout(rules)}
    for name, fields in tables.items():
        begin, end = f"<!-- {name} table -->\n", f"<!-- end of {name} table -->\n"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(
                f"docs/environment.md: the marks of the {name} table are not there once"
            )
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}\n{table(fields)}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
