"""Transcripts against the rule book: typed by hand they are filled in, and every number counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crib_env import Games
from crib_env.cards import card_text, cards_in, cards_text, parse_cards
from crib_env.game_record import Phase
from crib_env.notation import Keyword, Lane, Line, NotationError, Transcript, parse, replay, write

# The published deal of docs/rules.md, as somebody may type it who has seen it at a table: what each
# threw, how the cards fell, and what was said.
TYPED = """\
crib_env game 1
scores 50 45
deal 4 dealer 0
throw 1 2H 3H
throw 0 TH KH
starter JD
play 1 QC
play 0 5H 15
play 1 9C
play 0 6S
go 1
last 0
play 1 7C
play 0 4D
play 1 8C
play 0 5C
hand 1 +9
hand 0 +16
crib 0 +6
board 78 54
"""
# The same, with the cards that were dealt.
KNOWN = TYPED.replace(
    "throw 1 2H 3H", "dealt 1 2H 3H 7C 8C 9C QC\ndealt 0 4D 5C 5H 6S TH KH\nthrow 1 2H 3H"
)
FILLED = """\
crib_env game 1
scores       50   45

deal        4  dealer 0
dealt       1  2H 3H 7C 8C 9C QC
dealt       0  4D 5C 5H 6S TH KH
throw       1  2H 3H
throw       0  TH KH
starter        JD
heels       0   +2  his heels, two
play        1  QC  10
play        0  5H  15   +2  fifteen two
play        1  9C  24
play        0  6S  30
go          1
last        0   +1  go for one
play        1  7C   7
play        0  4D  11
play        1  8C  19
play        0  5C  24
last        0   +1  last card for one
hand        1  7C 8C 9C QC   +9  fifteen two, a run of three is five, and a flush of four is nine
hand        0  4D 5C 5H 6S  +16  fifteen two, fifteen four, fifteen six, fifteen eight, and a double run of three is sixteen
crib        0  2H 3H TH KH   +6  fifteen two, fifteen four, fifteen six
board        78   54
unfinished   78   54
"""  # noqa: E501  a line of a transcript is as long as it is


def filled(text: str) -> str:
    """Returns a game with all that it leaves out."""
    [told] = parse(text)
    return write(replay(told).transcript)


def error_of(text: str) -> NotationError:
    """Returns what a game is refused with."""
    [told] = parse(text)
    with pytest.raises(NotationError) as caught:
        replay(told)
    assert "\n" not in str(caught.value)
    return caught.value


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Returns a text with some lines changed, each of which it holds."""
    for before, after in changes:
        assert f"{before}\n" in text, before
        text = text.replace(f"{before}\n", f"{after}\n" if after else "", 1)
    return text


# ---- what may be left out ----


def test_a_deal_typed_by_hand_is_filled_in() -> None:
    assert filled(TYPED) == FILLED


def test_what_is_filled_in_is_complete() -> None:
    assert filled(FILLED) == FILLED


def test_cards_dealt_may_be_told_in_place_of_what_is_shown() -> None:
    early = TYPED[: TYPED.index("play 1 7C")]
    assert "4 of the 6 cards of seat 0 are told, 5H 6S TH KH" in error_of(early).reason
    known = KNOWN[: KNOWN.index("play 1 7C")]
    assert filled(known) == FILLED[: FILLED.index("play        1  7C")] + "unfinished   55   45\n"


def test_a_hand_that_is_shown_tells_cards_that_were_not_laid() -> None:
    text = TYPED[: TYPED.index("play 1 7C")]
    assert error_of(text + "hand 1 7C 8C 9C QC\nhand 0 4D 5C 5H 6S\n").reason.startswith(
        "'hand 1 7C 8C 9C QC': allowed here is 'play 1' with one of 7C 8C"
    )


def test_throws_and_cards_dealt_may_stand_in_any_order_of_seats() -> None:
    for text, word in ((TYPED, "throw"), (KNOWN, "dealt")):
        lines = text.split("\n")
        first, second = (index for index, line in enumerate(lines) if line.startswith(word))
        lines[first], lines[second] = lines[second], lines[first]
        assert filled("\n".join(lines)) == FILLED


def test_all_that_follows_may_be_left_out() -> None:
    follows = ("go", "last", "hand", "crib 0", "board")
    bare = "".join(f"{line}\n" for line in TYPED.split("\n") if not line.startswith(follows))
    assert filled(bare) == FILLED


def test_a_deal_of_three_players_needs_the_card_from_the_pack() -> None:
    text = """\
crib_env game 1
rules three_player
deal 1 dealer 2
dealt 0 2H 3H 4H 5H 6H
dealt 1 2C 3C 4C 5C 6C
dealt 2 2D 3D 4D 5D 6D
throw 0 2H
"""
    assert "card from the pack to the crib is not told" in error_of(text).reason
    [told] = parse(text.replace("throw", "pack KH\nthrow"))
    crib = int(replay(told).games.records["crib"][0])
    assert list(cards_in(crib)) == parse_cards("2H KH")


def test_the_crib_tells_the_card_from_the_pack() -> None:
    lines = ["crib_env game 1", "rules three_player target 20", "deal 1 dealer 2"]
    lines += ["throw 0 2H", "throw 1 2C", "throw 2 2D", "starter KS"]
    for ranks in ("3", "4", "5", "6"):
        lines += [f"play 0 {ranks}H", f"play 1 {ranks}C", f"play 2 {ranks}D"]
    text = "\n".join([*lines, "hand 0", "hand 1", "hand 2", "crib 2 2H 2C 2D KH"])
    text = text.replace("target 20", "target 121")
    assert "pack           KH\n" in filled(text)


# ---- a text that ends early ----


def test_a_game_without_a_deal_is_a_game() -> None:
    [told] = parse("crib_env game 1\nseat 0 Anna\n")
    played = replay(told)
    assert played.transcript == told
    assert len(played.records) == len(played.actions) == 0


def test_cards_of_one_seat_alone_are_kept_and_not_played() -> None:
    text = "crib_env game 1\ndeal 1 dealer 0\ndealt 1 2H 3H 7C 8C 9C QC\n"
    played = replay(parse(text)[0])
    assert len(played.records) == 0
    assert "dealt       1  2H 3H 7C 8C 9C QC\nunfinished    0    0\n" in write(played.transcript)
    assert "scores: allowed here is 'unfinished 0 0'" in error_of(f"{text}unfinished 1 0\n").reason
    later = text + "deal 2 dealer 1\n"
    assert "0 of the 6 cards of seat 0 are told" in error_of(later).reason


def test_a_starter_that_is_not_told_is_never_made_up() -> None:
    text = FILLED[: FILLED.index("starter")]
    played = replay(parse(text)[0])
    assert played.games.records["phase"][0] == Phase.DISCARD
    assert write(played.transcript) == text + "unfinished   50   45\n"
    assert "the starter is not told" in error_of(text + "play 1 QC\n").reason


def test_the_lanes_own_starter_is_known() -> None:
    lane = "lane seed 7 game 0 first 0\n"
    own = replay(parse(f"crib_env game 1\n{lane}deal 1 dealer 0\n")[0]).games.records[0]
    deal = "".join(
        f"dealt {seat} {cards_text(cards_in(int(own['hands'][seat])))}\n" for seat in (1, 0)
    )
    throws = "".join(
        f"throw {seat} {cards_text(list(cards_in(int(own['hands'][seat])))[:2])}\n"
        for seat in (1, 0)
    )
    text = f"crib_env game 1\n{lane}deal 1 dealer 0\n{deal}{throws}"
    assert f"starter        {card_text(int(own['starter']))}\n" in filled(text)


# ---- the end ----

CLOSE = changed(TYPED, ("scores 50 45", "scores 100 112"))


def test_pone_counts_first_and_the_dealers_hand_is_not_counted() -> None:
    text = CLOSE[: CLOSE.index("hand 1")]
    assert filled(text).endswith(
        "hand        1  7C 8C 9C QC   +9  fifteen two, a run of three is five, and a flush of four "
        "is nine\nwon         1  106  121\n"
    )
    assert "allowed here is 'won 1 106 121'" in error_of(text + "hand 1\nhand 0\n").reason


def test_points_beyond_the_target_are_not_pegged() -> None:
    text = changed(CLOSE, ("scores 100 112", "scores 100 115"))
    text = text[: text.index("hand 1")] + "hand 1 +6 worth 9\nwon 1\n"
    assert "QC   +6  worth  9  fifteen two" in filled(text)
    assert "points: allowed here is" in error_of(text.replace("+6", "+9")).reason
    assert "worth: allowed here is" in error_of(text.replace("worth 9", "worth 8")).reason


def test_who_is_skunked_is_told() -> None:
    text = changed(CLOSE, ("scores 100 112", "scores 50 112"))
    text = text[: text.index("hand 1")] + "won 1 56 121 double skunk 0\n"
    assert filled(text).endswith("won         1   56  121  double skunk 0\n")
    assert "words: allowed here is" in error_of(text.replace("double skunk", "skunk")).reason


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("won 0", "'won 0': allowed here is 'won 1 106 121' or nothing, the game is over"),
        ("won 1 105 121", "scores: allowed here is 'won 1 106 121'"),
        ("over", "'over': allowed here is"),
        ("unfinished", "nothing, the game is over"),
        ("forfeit 0", "nothing, the game is over"),
        ("deal 5 dealer 1", "deal 5: allowed here is nothing, the game is over"),
    ],
)
def test_another_end_is_refused(end: str, reason: str) -> None:
    text = f"{CLOSE[: CLOSE.index('hand 1')]}hand 1\n{end}\n"
    error = error_of(text)
    assert reason in error.reason
    assert error.line == text.count("\n")


def test_a_game_may_be_forfeited_by_the_seat_to_act() -> None:
    text = TYPED[: TYPED.index("play 1 9C")]
    dealt = text.replace("throw 1", "dealt 1 2H 3H 7C 8C 9C QC\ndealt 0 4D 5C 5H 6S TH KH\nthrow 1")
    assert filled(f"{dealt}forfeit 1\n").endswith("forfeit     1   54   45\n")
    assert "allowed here is 'play 1' with one" in error_of(f"{dealt}forfeit 0\n").reason
    assert "scores: allowed here is" in error_of(f"{dealt}forfeit 1 50 45\n").reason


def test_a_single_deal_is_over_after_the_crib() -> None:
    text = changed(TYPED, ("crib_env game 1", "crib_env game 1\none_deal yes"))
    text = changed(text, ("board 78 54", "over 78 54"))
    assert filled(text).endswith("over         78   54\n")
    assert "allowed here is 'over 78 54'" in error_of(text.replace("over", "board")).reason


# ---- what does not happen ----

WRONG = [
    # The play.
    ("play 0 5H 15", "play 0 5H 14", "count: allowed here is 'play 0 5H 15 +2 fifteen two'"),
    ("play 0 5H 15", "play 0 5H 15 +3", "points: allowed here is"),
    ("play 0 5H 15", "play 0 5H 15 +0", "points: allowed here is"),
    ("play 0 5H 15", "play 0 5H 15 +2 fifteen four", "words: allowed here is"),
    ("play 0 5H 15", "play 0 5H 15 +2 worth 3", "worth: allowed here is"),
    ("play 1 QC", "play 1 QC 10 +1", "points: allowed here is 'play 1 QC 10'"),
    ("play 1 9C", "play 1 TH", "TH is seat 0's, in line 5"),
    ("play 1 9C", "play 1 2H", "2H is thrown in line 6"),
    ("play 1 9C", "play 1 QC", "QC is laid in line 9"),
    ("play 1 9C", "play 1 JD", "JD is the starter, in line 8"),
    ("last 0", "last 1", "'last 1': allowed here is 'last 0 +1 go for one' or 'play 1'"),
    ("last 0", "last 0 +2", "points: allowed here is 'last 0 +1 go for one'"),
    ("last 0", "last 0 +1 last card for one", "words: allowed here is"),
    ("go 1", "go 0", "'go 0': allowed here is 'go 1' or 'play 1' with one of 7C 8C"),
    ("play 1 QC", "heels 1\nplay 1 QC", "'heels 1': allowed here is 'heels 0 +2"),
    # The show.
    ("hand 1 +9", "hand 1 +8", "points: allowed here is 'hand 1 7C 8C 9C QC +9 fifteen two"),
    ("hand 1 +9", "hand 1 2H 8C 9C QC", "cards: allowed here is"),
    ("hand 1 +9", "hand 0 +16\nhand 1 +9", "'hand 1 +9': allowed here is 'crib 0"),
    ("crib 0 +6", "crib 1 +6", "'crib 1 +6': allowed here is 'crib 0"),
    ("crib 0 +6", "crib 0 TH KH 2H 4S", "cards: allowed here is"),
    ("board 78 54", "board 78 55", "scores: allowed here is 'board 78 54'"),
    ("board 78 54", "board 78 54\nboard 78 54", "allowed here is the next deal"),
    ("board 78 54", "won 0", "'won 0': allowed here is 'board 78 54' or the next deal"),
    # Cards and deals.
    ("starter JD", "starter 4D", "4D is seat 0's, in line 5"),
    ("starter JD", "starter JD\nstarter QD", "stands there twice in this deal"),
    ("starter JD", "", "the starter is not told: allowed before it is 'starter'"),
    ("throw 1 2H 3H", "throw 1 2H", "'throw 0 TH KH': allowed here is 'throw 1'"),
    ("throw 1 2H 3H", "", "'throw 0 TH KH': allowed here is 'throw 1'"),
    ("throw 1 2H 3H", "throw 1 2H 3H\nthrow 1 2H 3H", "stands there twice in this deal"),
    ("throw 1 2H 3H", "throw 1 TH 3H", "TH is seat 0's, in line 5"),
    ("dealt 1 2H 3H 7C 8C 9C QC", "dealt 1 2H 3H 7C 8C 9C QD", "seat 1 was dealt 2H 3H 7C"),
    ("play 1 QC", "throw 1 2H 3H\nplay 1 QC", "stands after 'starter        JD'"),
    ("play 1 QC", "play 1 QC\ndealt 1 2H 3H 7C 8C 9C QC", "stands after 'starter"),
    ("board 78 54", "deal 6 dealer 1", "deal 6: allowed is 5"),
    ("board 78 54", "deal 5 dealer 0", "dealer 0: allowed is 1"),
    ("hand 1 +9", "deal 5 dealer 1\nhand 1", "0 of the 6 cards of seat 0 are told"),
    ("deal 4 dealer 0", "deal 4", "who deals is not told"),
    ("deal 4 dealer 0", "deal 4 dealer 0\ndeal 5 dealer 1", "0 of the 6 cards of seat 0 are told"),
    # Claims without muggins.
    ("hand 1 +9", "hand 1 +9\nclaim 1 9", "'claim 1 9': allowed here is 'hand 0"),
    ("hand 1 +9", "hand 1 +9\ncall 0 1", "'call 0 1': allowed here is 'hand 0"),
    ("hand 1 +9", "excess 0 +1\nhand 1 +9", "'excess 0 +1': allowed here is"),
]


@pytest.mark.parametrize(("before", "after", "reason"), WRONG)
def test_what_does_not_happen_is_refused(before: str, after: str, reason: str) -> None:
    error = error_of(changed(KNOWN, (before, after)))
    assert reason in error.reason, error.reason


def test_a_deal_that_is_not_over_is_followed_by_none() -> None:
    early = KNOWN[: KNOWN.index("play 0 5C")]
    error = error_of(f"{early}deal 5 dealer 1\n")
    assert error.reason == "deal 5: allowed here is 'play 0' with one of 5C"


def test_the_line_of_an_error_is_where_it_stands() -> None:
    text = changed(TYPED, ("board 78 54", "board 78 55"))
    assert error_of(text).line == text.split("\n").index("board 78 55") + 1


def test_a_go_of_a_player_who_can_play_is_no_go() -> None:
    text = KNOWN[: KNOWN.index("play 1 9C")]
    assert error_of(f"{text}go 1\n").reason == "'go 1': at a count of 15, seat 1 can play 7C 8C 9C"


def test_another_seat_than_the_one_to_play_is_refused() -> None:
    error = error_of(f"{KNOWN[: KNOWN.index('play')]}play 0 4D\n")
    assert error.reason == (
        "'play 0 4D': allowed here is 'heels 0 +2 his heels, two' or 'play 1' with one of "
        "7C 8C 9C QC"
    )


def test_a_card_that_takes_the_count_past_31_is_refused() -> None:
    text = """\
crib_env game 1
deal 1 dealer 0
dealt 1 2C 7H 8H TC QC KC
dealt 0 3D 4D 7S 8S QD KD
throw 1 7H 8H
throw 0 7S 8S
starter 9S
play 1 KC
play 0 KD
play 1 2C
play 0 QD
"""
    assert error_of(text).reason == "'play 0 QD': the count would be 32: allowed are 3D 4D"


# ---- the cut, the lane, the dealer ----


def test_the_cut_says_who_deals() -> None:
    text = "crib_env game 1\ncut 5H 5C\ncut 7C 3H\ndeal\n"
    assert "deal        1  dealer 1\n" in filled(text)
    assert (
        "dealer 0: by the cut, allowed is 1"
        in error_of(text.replace("deal\n", "deal 1 dealer 0\n")).reason
    )
    assert "deal        2  dealer 0\n" in filled(text.replace("deal\n", "deal 2\n"))


@pytest.mark.parametrize(
    ("cuts", "reason"),
    [
        ("cut 5H 5C", "cut 5H 5C: the lowest are equal: allowed is another cut"),
        ("cut 5H 6C\ncut 2C 3C", "cut 2C 3C: the cut before stands"),
    ],
)
def test_equal_cards_are_cut_again_and_others_are_not(cuts: str, reason: str) -> None:
    error = error_of(f"crib_env game 1\n{cuts}\ndeal 1\n")
    assert (error.line, error.reason) == (2, reason)


@pytest.mark.parametrize("first", ["0", "1", "cut", "alternate", "loser"])
def test_the_lane_says_who_deals_first(first: str) -> None:
    given = int(first) if first.isdigit() else first
    games = Games(1, seed=[77], first_dealer=given)  # type: ignore[arg-type]  # one of those allowed
    told = replay(parse(f"crib_env game 1\nlane seed 77 first {first}\ndeal\n")[0])
    assert told.transcript.deals[0].dealer == games.records["dealer"][0]


def test_the_five_card_game_begins_with_three_for_pone() -> None:
    text = "crib_env game 1\nrules five_card\ndeal 1 dealer 0\n"
    assert filled(text).endswith("unfinished    0    3\n")
    assert filled(text.replace("deal 1", "scores 0 0\ndeal 1")).endswith("unfinished    0    0\n")


# ---- muggins ----

MUGGINS = """\
crib_env game 1
rules muggins show
deal 1 dealer 0
throw 1 2H 3H
throw 0 TH KH
starter JD
play 1 QC
play 0 5H
play 1 9C
play 0 6S
play 1 7C
play 0 4D
play 1 8C
play 0 5C
hand 1 worth 9
claim 1 5 +5
call 0 4 +4
hand 0
claim 0 18 +16
excess 1 +2
call 1 1 +0
crib 0
claim 0 6
call 1 0
board 32 7
"""


def test_claims_and_calls_are_checked() -> None:
    assert "hand        1  7C 8C 9C QC  worth  9  fifteen two, a run" in filled(MUGGINS)
    assert filled(filled(MUGGINS)) == filled(MUGGINS)


def test_claims_that_are_not_told_are_right_and_not_called() -> None:
    lines = [
        line for line in MUGGINS.splitlines() if line.split()[0] not in ("claim", "call", "excess")
    ]
    text = "\n".join(lines).replace("board 32 7", "board 28 9")
    assert "claim       0  16  +16\ncall        1   0\n" in filled(text)
    # Where nothing follows, nobody has claimed yet.
    assert filled(text.replace("board 28 9", "")).endswith(
        "crib        0  2H 3H TH KH  worth  6  fifteen two, fifteen four, fifteen six\n"
        "unfinished   22    9\n"
    )


def test_with_full_muggins_every_card_is_claimed() -> None:
    text = changed(MUGGINS, ("rules muggins show", "rules muggins full"))
    text = changed(text, ("play 0 5H", "play 0 5H worth 2\nclaim 0 0\ncall 1 2 +2"))
    text = changed(text, ("board 32 7", "board 30 9"))
    told = filled(text)
    assert told.count("\nclaim") == 8 + 2 + 3
    assert (
        "last        0  worth  1  go for one\nclaim       0   1   +1\ncall        1   0\n" in told
    )


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("claim 1 5 +5", "claim 1 5 +9", "points: allowed here is 'claim 1 5 +5'"),
        ("claim 1 5 +5", "claim 0 5", "'claim 0 5': allowed here is 'claim 1'"),
        ("call 0 4 +4", "call 0 5 +4", "points: allowed here is 'call 0 5 +0'"),
        ("call 0 4 +4", "call 1 4", "'call 1 4': allowed here is 'call 0'"),
        ("excess 1 +2", "excess 1 +3", "points: allowed here is 'excess 1 +2'"),
        ("excess 1 +2", "excess 0 +2", "'excess 0 +2': allowed here is 'excess 1 +2' or 'call 1'"),
        ("hand 1 worth 9", "hand 1 worth 8", "worth: allowed here is 'hand 1 7C 8C 9C QC worth 9"),
        ("hand 1 worth 9", "hand 1 +9", "points: allowed here is"),
        ("board 32 7", "board 32 8", "scores: allowed here is 'board 32 7'"),
        ("call 1 0", "call 1 0\ncall 1 0", "'call 1 0': allowed here is 'board 32 7' or the next"),
        ("claim 0 6", "claim 0 6\nclaim 0 6", "'claim 0 6': allowed here is 'call 1'"),
        ("play 1 9C", "claim 1 0\nplay 1 9C", "'claim 1 0': allowed here is 'play 1' with one of"),
    ],
)
def test_claims_and_calls_that_do_not_happen_are_refused(
    before: str, after: str, reason: str
) -> None:
    assert reason in error_of(changed(MUGGINS, (before, after))).reason


# ---- from Python ----


def test_a_transcript_made_in_python_is_checked_like_one_that_was_read() -> None:
    [told] = parse(FILLED)
    made = replace(told, line=0)
    assert replay(made).transcript == told
    wrong = replace(told.deals[0], lines=(Line(Keyword.PLAY, 7, (18,)),))
    with pytest.raises(NotationError, match="seat '7': allowed is 0 to 1"):
        replay(replace(made, deals=(wrong,)))


def test_records_are_those_after_each_move_and_each_deal() -> None:
    played = replay(parse(TYPED)[0])
    assert played.actions.tolist()[0] == -1
    assert len(played.records) == len(played.actions) == 1 + 4 + 8
    assert played.records["deal_number"].tolist() == [3] * 12 + [4]
    assert np.array_equal(played.records[-1:], played.games.records)
    assert played.games.scores.tolist() == [[78, 54]]


def test_a_lane_gives_the_cards_to_come() -> None:
    games = Games(1, seed=[5], first_dealer="cut")
    made = Transcript(lane=Lane(5, 0, "cut"))
    text = write(made) + "deal\n"
    told = replay(parse(text)[0])
    assert np.array_equal(told.games.records["hands"], games.records["hands"])
