"""The pieces of the picture: every card can be told from every other, all backs are alike."""

from __future__ import annotations

import sys
from itertools import combinations

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.error import DependencyNotInstalled

from crib_env.cards import NO_CARD
from crib_env.render.sprites import (
    card_height,
    card_margin,
    card_picture,
    chip,
    fitted,
    peg,
    suit_mask,
    text_length,
)


def pixels(picture: object) -> npt.NDArray[np.int64]:
    """Returns a picture as numbers, (height, width, channels) int64."""
    return np.array(picture).astype(np.int64)


@pytest.mark.parametrize("width", [38, 74])
def test_no_two_cards_look_alike(width: int) -> None:
    faces = [pixels(card_picture(card, width)) for card in [*range(52), NO_CARD]]
    for one, other in combinations(faces, 2):
        assert (np.abs(one - other).max(axis=2) > 60).sum() > 3


def test_no_two_cards_look_alike_in_a_line() -> None:
    chips = [pixels(chip(card, 16)) for card in range(52)]
    for one, other in combinations(chips, 2):
        assert (np.abs(one - other).max(axis=2) > 60).sum() > 3


@pytest.mark.parametrize("width", [12, 44, 75])
def test_a_card_is_of_the_size_asked_for(width: int) -> None:
    margin = card_margin(width)
    assert card_picture(7, width).size == (width + 2 * margin, card_height(width) + 2 * margin)
    solid = pixels(card_picture(7, width))[..., 3] == 255
    assert solid[margin + width // 2, margin : margin + width].all()
    assert not solid[:, : margin - 1].any()


def test_suits_are_red_and_black() -> None:
    for card in range(52):
        face = pixels(card_picture(card, 60))
        inner = face[10:-10, 10:-10]
        red = ((inner[..., 0] > 150) & (inner[..., 1] < 100)).sum()
        dark = (inner[..., 0] < 80).sum()
        assert (red > 50) == (card % 4 in (1, 2))
        assert (dark > 50) == (card % 4 in (0, 3))


@pytest.mark.parametrize("suit", range(4))
def test_a_suit_is_one_shape_the_same_on_both_sides(suit: int) -> None:
    mask = np.array(suit_mask(suit, 64)).astype(int)
    assert 0.3 < mask.mean() / 255 < 0.75
    assert np.abs(mask - mask[:, ::-1]).mean() < 4
    # No hole in it: along each row, ink is in one stretch, or in two above the notch of a heart.
    for row in mask[24:40] > 128:
        assert np.abs(np.diff(row.astype(int))).sum() == 2


def test_pegs_of_two_colours_differ() -> None:
    assert (pixels(peg((200, 60, 50), 5)) != pixels(peg((50, 110, 200), 5))).any()


def test_words_that_are_too_long_end_in_an_ellipsis() -> None:
    assert fitted("agent", 14, 200) == "agent"
    short = fitted("agent of a long name", 14, 60)
    assert short.endswith("…")
    assert text_length(short, 14) <= 60


def test_without_pillow_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] == "PIL":
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    for name in ("sprites", "canvas", "board", "panel", "facing", "around", "picture"):
        monkeypatch.delitem(sys.modules, f"crib_env.render.{name}", raising=False)
    with pytest.raises(DependencyNotInstalled) as raised:
        gymnasium.make("crib_env/Cribbage-v0", render_mode="rgb_array")
    assert str(raised.value) == 'drawing the table needs Pillow: pip install "crib-env[render]"'
