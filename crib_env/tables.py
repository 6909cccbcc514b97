"""Tables of numbers that play rests on, each with the command that made it.

``data/hands.npz``   points of ranks in the show     ``python -m crib_env.make_tables hands``
``data/cribs.npz``   expected crib by pair thrown    ``python -m crib_env.make_tables cribs``
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

# Expected points of the crib by the ranks thrown to it, (13, 13) int64, in thousandths of a point:
# to one's own crib, and to the other's.
CRIB_SCALE = 1000

with np.load(Path(__file__).parent / "data" / "cribs.npz") as _tables:
    OWN_CRIB = _tables["own"].astype(np.int64)
    OTHER_CRIB = _tables["other"].astype(np.int64)
