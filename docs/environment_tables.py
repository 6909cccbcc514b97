"""Writes the index tables of docs/environment.md, variants.md and wrappers.md from the code.

Run it after a change of `crib_env/observation.py` or `crib_env/derived.py`: ``python
docs/environment_tables.py``. A test fails where a page and the code differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from crib_env.derived import derived_layout
from crib_env.observation import Field, layout, observation_size, privileged_layout, privileged_size
from crib_env.rules import PRESETS, Rules

DOCS = Path(__file__).parent


def table(fields: Mapping[str, Field], entries: str = "`uint8` from 0 to its highest value") -> str:
    """Returns the named slices of a vector as a table, with its length above."""
    size = max(field.stop for field in fields.values())
    lines = [
        f"{size} entries, each a {entries}:",
        "",
        "| slice | field | highest | meaning |",
        "|---|---|---|---|",
    ]
    return "\n".join(lines + [row(name, field) for name, field in fields.items()])


def row(name: str, field: Field) -> str:
    """Returns one named slice as a line of a table."""
    return f"| `{field.start}:{field.stop}` | `{name}` | {field.high} | {field.meaning} |"


def muggins_table() -> str:
    """Returns the slices that two players and six cards have with muggins alone."""
    plain, fields = layout(Rules()), layout(Rules(muggins="show"))
    more = {name: field for name, field in fields.items() if field != plain.get(name)}
    kept = [name for name in more if name in plain and name != "phase"]
    lines = ["| slice | field | highest | meaning |", "|---|---|---|---|"]
    lines += [row(name, field) for name, field in more.items() if name not in kept]
    return "\n".join([*lines, "", "The fields after `phase` move up by two."])


def sizes_table() -> str:
    """Returns the lengths of the vectors of every preset."""
    lines = [
        "| preset | observation | with muggins | privileged view |",
        "|---|---|---|---|",
    ]
    for name, rules in PRESETS.items():
        claimed = observation_size(replace(rules, muggins="show"))
        lines.append(
            f"| `{name}` | {observation_size(rules)} | {claimed} | {privileged_size(rules)} |"
        )
    return "\n".join(lines)


# The tables of each page.
TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "environment.md": {
        "observation": lambda: table(layout(Rules())),
        "privileged": lambda: table(privileged_layout(Rules())),
    },
    "variants.md": {"muggins": muggins_table, "sizes": sizes_table},
    "wrappers.md": {"derived": lambda: table(derived_layout(Rules()), "`float32` from 0 to 1")},
}


def updated(page: str, name: str) -> str:
    """Returns a page with its tables as the code has them.

    Args:
        page: The text.
        name: The file's name, a key of `TABLES`.

    Raises:
        ValueError: If a table's two marks are not both there, once.
    """
    for mark, written in TABLES[name].items():
        begin, end = f"<!-- {mark} table -->\n", f"<!-- end of {mark} table -->\n"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"docs/{name}: the marks of the {mark} table are not there once")
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}\n{written()}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    for name in TABLES:
        path = DOCS / name
        path.write_text(updated(path.read_text(encoding="utf-8"), name), encoding="utf-8")
