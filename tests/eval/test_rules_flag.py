"""Rules as a word: every one has a text, every text that is none is refused in one line."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from crib_env.rules import MUGGINS_MODES, PRESETS, Rules
from eval.rules_flag import rules_from_text, rules_text


@pytest.mark.parametrize("name", PRESETS)
def test_a_presets_name_is_its_text(name: str) -> None:
    assert rules_from_text(name) == PRESETS[name]
    assert rules_text(PRESETS[name]) == name


@pytest.mark.parametrize("name", PRESETS)
def test_every_rules_have_a_text_that_makes_them(name: str) -> None:
    for target, triple_skunk, muggins, penalty in product(
        (4, 60, 61, 120, 121), (False, True), MUGGINS_MODES, (False, True)
    ):
        rules = replace(
            PRESETS[name],
            target=target,
            triple_skunk=triple_skunk,
            muggins=muggins,
            muggins_penalty=penalty,
        )
        assert rules_from_text(rules_text(rules)) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("target=61", Rules(target=61)),
        ("six_card,target=61", Rules(target=61)),
        ("five_card,target=31", Rules(cards_dealt=5, target=31)),
        ("target=31,players=3,cards_dealt=5", Rules(players=3, cards_dealt=5, target=31)),
        ("short,triple_skunk=true", Rules(target=61, triple_skunk=True)),
        ("short,triple_skunk=False", Rules(target=61)),
        ("muggins=show", Rules(muggins="show")),
        ("four_player,muggins=full,muggins_penalty=false", Rules(4, 5, 121, False, "full", False)),
        # The last counts, as with flags.
        ("target=31,target=41", Rules(target=41)),
    ],
)
def test_fields_follow_the_name_or_differ_from_six_cards(text: str, rules: Rules) -> None:
    assert rules_from_text(text) == rules


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("three_playr", "allowed are six_card, short, five_card, three_player, four_player"),
        ("", "allowed are six_card"),
        ("Six_card", "allowed are six_card"),
        ("six_card ", "allowed are six_card"),
        ("six_card,", "'': allowed after a comma are players=, cards_dealt=, target="),
        ("six_card,short", "'short': allowed after a comma are players="),
        ("six_card,target", "'target': allowed after a comma are players="),
        ("tarket=61", "'tarket=61': allowed after a comma are players="),
        ("target=", "Rules.target='': allowed is 1 to 121"),
        ("target=61.0", "Rules.target='61.0': allowed is 1 to 121"),
        ("target=122", "Rules.target=122: allowed is 1 to 121"),
        ("triple_skunk=1", "Rules.triple_skunk='1': allowed are True and False"),
        ("muggins=Show", "Rules.muggins='Show': allowed are 'none', 'show', 'full'"),
        ("players=3", "Rules.cards_dealt=6: allowed is 5 with 3 players"),
    ],
)
def test_what_is_none_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="rules ") as refused:
        rules_from_text(text)
    line = str(refused.value)
    assert line.startswith(f"rules {text!r}: ")
    assert said in line
    assert "\n" not in line
