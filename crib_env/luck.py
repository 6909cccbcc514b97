"""Where all luck comes from: a counter-based hash, so that nothing depends on the order of calls.

Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) maps a key
and a counter to 128 random bits. The key is the seed of a lane; the counter says what the bits are
for: which game, which deal, which stream. So lane i of a batch is the single game with that lane's
seed, the same cards can be played twice, and players never use up luck that cards would have had.

Words are 32 bits in int64, masked after each step: the same text gives the same bits compiled
(where products wrap around) and uncompiled (where they grow).
"""

from __future__ import annotations

from crib_env.checks import is_whole, named
from crib_env.kernel import kernel

WORD = 0xFFFFFFFF
NUM_SEEDS = 1 << 64

# What a counter's last word says the bits are for; cards add above it whom they are for.
STREAM_CARDS = 0
STREAM_CUT = 1
STREAM_PLAYERS = 2
STREAM_LANES = 3
STREAM_REDEAL = 4
STREAM_OPPONENTS = 5
STREAM_POSITION = 6
STREAM_SCORES = 7
STREAM_RESEED = 8

Words = tuple[int, int, int, int]


@kernel
def philox(
    counter0: int, counter1: int, counter2: int, counter3: int, key0: int, key1: int
) -> Words:
    """Returns four random words of 32 bits for a counter of four words and a key of two."""
    a, b, c, d = int(counter0), int(counter1), int(counter2), int(counter3)
    key0, key1 = int(key0), int(key1)
    for _ in range(10):
        left = a * 0xD2511F53
        right = c * 0xCD9E8D57
        a = ((right >> 32) ^ b ^ key0) & 0xFFFFFFFF
        b = right & 0xFFFFFFFF
        c = ((left >> 32) ^ d ^ key1) & 0xFFFFFFFF
        d = left & 0xFFFFFFFF
        key0 = (key0 + 0x9E3779B9) & 0xFFFFFFFF
        key1 = (key1 + 0xBB67AE85) & 0xFFFFFFFF
    return a, b, c, d


@kernel
def mix(key: int, number: int) -> int:
    """Returns 32 random bits for a number below 2**16 and a random key; cheaper than `philox`.

    The finalizer of MurmurHash3 (Appleby, 2011) over key + number * the golden ratio's odd word.
    """
    word = (key + number * 0x9E3779B9) & 0xFFFFFFFF
    word = ((word ^ (word >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    word = ((word ^ (word >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return word ^ (word >> 16)


def check_seed(seed: int) -> int:
    """Returns *seed* as an int.

    Raises:
        ValueError: If it is not a whole number from 0 to 2**64 - 1.
    """
    if not is_whole(seed) or not 0 <= seed < NUM_SEEDS:
        raise ValueError(f"seed {named(seed)}: a seed is a whole number from 0 to 2**64 - 1")
    return int(seed)


def lane_seed(seed: int, lane: int) -> int:
    """Returns the seed of one lane of a batch that was given one seed.

    It is a hash, not a sum: with ``seed + lane``, seeds 1 and 2 would share all lanes but one.

    Args:
        seed: The seed of the batch, 0 to 2**64 - 1.
        lane: The index of the lane in the batch.

    Raises:
        ValueError: If *seed* is out of range.
    """
    seed = check_seed(seed)
    low, high, _, _ = philox(lane & WORD, lane >> 32, 0, STREAM_LANES, seed & WORD, seed >> 32)
    return int(high) << 32 | int(low)
