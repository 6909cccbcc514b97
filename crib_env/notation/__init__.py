"""Notation: a game as text that a person can read and a diff can show (docs/notation.md).

`write` makes text of transcripts and `parse` transcripts of text; `replay` plays one through the
rule book and checks every number in it.
"""

from crib_env.notation.reader import parse
from crib_env.notation.replaying import Replay, replay
from crib_env.notation.transcript import (
    VERSION,
    Deal,
    Keyword,
    Lane,
    Line,
    NotationError,
    Transcript,
)
from crib_env.notation.writer import write

__all__ = [
    "VERSION",
    "Deal",
    "Keyword",
    "Lane",
    "Line",
    "NotationError",
    "Replay",
    "Transcript",
    "parse",
    "replay",
    "write",
]
