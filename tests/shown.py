"""What rich shows, as text."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType


def text_of(shown: RenderableType) -> str:
    """Returns what a table or text looks like on a wide terminal without colours."""
    written = io.StringIO()
    Console(file=written, width=200, markup=False, highlight=False).print(shown)
    return written.getvalue()
