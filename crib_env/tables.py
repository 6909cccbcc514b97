"""Tables of numbers that play rests on, each with the command that made it.

``data/hands.npz``   points of ranks in the show     ``python -m crib_env.make_tables hands``
``data/cribs.npz``   expected crib by pair thrown    ``python -m crib_env.make_tables cribs``
``data/win_probability.npz``   who wins from which score, and which scores there are
                               ``python -m crib_env.make_tables win_probability``
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

_DATA = Path(__file__).parent / "data"

# Expected points of the crib by the ranks thrown to it, in thousandths of a point: (4, 2, 13, 13)
# int64 by variant (six cards, five cards, three players, four players), to the crib of one's own
# side or another's, and the ranks. Where one card is thrown it stands on the diagonal.
CRIB_SCALE = 1000
CRIB_VARIANTS = ("six_card", "five_card", "three_player", "four_player")

with np.load(_DATA / "cribs.npz") as _tables:
    CRIBS = np.stack([_tables[name] for name in CRIB_VARIANTS]).astype(np.int64)

# How often the dealer wins a game to 121 between equal players (`expert`) from the start of its
# deal, (121, 121) float64 by [dealer's score, pone's score]. A shorter game is the end of a long
# one: to the target T, look up both scores plus 121 - T. Standard errors are at most 0.0001; they
# stand in the file as `standard_error`, with the number of `deals`.
#
# DEAL_STARTS: the share of all deals that start at these scores in games from 0-0, (121, 121)
# float64 by the same; sums to 1.
with np.load(_DATA / "win_probability.npz") as _tables:
    WIN_PROBABILITY = _tables["win_probability"]
    DEAL_STARTS = _tables["deal_starts"]
