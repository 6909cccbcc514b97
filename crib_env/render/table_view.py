"""`TableView`: what a render mode shows of one game, followed decision by decision."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from crib_env.cards import NO_CARD
from crib_env.checks import named
from crib_env.narrator import Narrator
from crib_env.options import AGENT
from crib_env.render.text import table_text
from crib_env.rules import Rules

RENDER_MODES = ("ansi", "human", "rgb_array")
# What the seats are called from the agent's own, by how many there are.
NAMES = {
    2: ("agent", "opponent"),
    3: ("agent", "left", "right"),
    4: ("agent", "left", "partner", "right"),
}


class TableView:
    """Follows one game decision by decision, and shows it as the agent's seat sees it.

    Args:
        mode: One of `RENDER_MODES`.
        open_hands: Whether to show the cards that the agent cannot see.
        rules: The rules of the game.
        names: What the seats are called, in order; by default as of the agent, seat 0.
    """

    def __init__(
        self, mode: str, open_hands: bool, rules: Rules, names: Sequence[str] | None = None
    ) -> None:
        """Has seen nothing yet."""
        self.mode = mode
        self.open_hands = open_hands
        self.narrator = Narrator(rules, names or NAMES[rules.players])

    @classmethod
    def of(
        cls, mode: Any, open_hands: Any, rules: Rules, names: Sequence[str] | None = None
    ) -> TableView | None:
        """Returns the view of a render mode, None for None.

        Raises:
            ValueError: If a value is not allowed.
            gymnasium.error.DependencyNotInstalled: If a picture is asked for and Pillow is missing.
        """
        if not isinstance(open_hands, bool):
            raise ValueError(f"render_open_hands={named(open_hands)}: allowed are True and False")
        if mode is None:
            return None
        if not isinstance(mode, str) or mode not in RENDER_MODES:
            allowed = ", ".join(map(repr, RENDER_MODES))
            raise ValueError(f"render_mode={named(mode)}: allowed are None, {allowed}")
        if mode == "rgb_array":
            # Now, not at the first picture: without Pillow nothing should begin.
            importlib.import_module("crib_env.render.picture")
        return cls(mode, open_hands, rules, names)

    def begin(self, record: Any) -> None:
        """Begins where a game stands, with nothing to tell."""
        self.narrator.begin(record)

    def next_step(self) -> None:
        """Forgets what the last step told."""
        self.narrator.clear()

    def forfeit(self, seat: int = AGENT) -> None:
        """Is told that an illegal action of a seat, by default the agent's, has ended the game."""
        self.narrator.forfeit(seat)

    def witness(self, before: npt.NDArray[Any], actions: Any, after: npt.NDArray[Any]) -> None:
        """Is told of one decision (`lanes.Witness`), or without a card of a game that begins."""
        if actions[0] == NO_CARD:
            self.begin(after[0])
        else:
            self.narrator.tell(before[0], int(actions[0]), after[0])

    def render(self, record: Any) -> Any:
        """Returns the table: a str, or (540, 960, 3) uint8; None in the mode ``"human"``."""
        if self.mode == "human":
            return None
        if self.mode == "ansi":
            return table_text(record, AGENT, self.narrator, open_hands=self.open_hands)
        from crib_env.render.picture import table_picture

        return table_picture(record, AGENT, self.narrator, open_hands=self.open_hands)

    def show(self, record: Any) -> None:
        """Prints the table in the mode ``"human"``."""
        if self.mode == "human":
            print(table_text(record, AGENT, self.narrator, open_hands=self.open_hands))
