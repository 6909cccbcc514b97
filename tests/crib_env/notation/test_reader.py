"""What stands in a text: every line that is none is refused, and says why."""

import pytest

from crib_env.cards import parse_cards
from crib_env.notation import Deal, Keyword, Lane, Line, NotationError, Transcript, parse, write
from crib_env.rules import PRESETS, Rules

HEADING = "crib_env game 1\n"


def error_of(text: str) -> NotationError:
    """Returns what a text is refused with."""
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert "\n" not in str(caught.value)
    return caught.value


# ---- what is read ----

EVERY_LINE = """\
crib_env game 1
note        Anna's kitchen, 1 March
note        the second game
rules       target 61  triple_skunk yes  muggins full  muggins_penalty no
one_deal    yes
seat        0  Anna
seat        1  Bert and the cat
lane        seed 18446744073709551615  game 3  first alternate  first_cut 1
cut            5H 5C
cut            7C 3H
scores       12   45

deal        3  dealer 1
dealt       0  2H 3H 7C 8C 9C QC
dealt       1  4D 5C 5H 6S TH KH
throw       0  2H 3H
throw       1  TH KH
starter        JD
heels       1   +2  his heels, two
play        0  QC  10
claim       0   0   +0
call        1   0
play        1  5H  15  worth  2  fifteen two
claim       1   5   +2
excess      0   +3
call        0   2   +0
go          0
last        1  worth  1  go for one
hand        0  7C 8C 9C QC  worth  9  fifteen two, a run of three is five
crib        1  2H 3H TH KH   +6  fifteen two, fifteen four, fifteen six
board        20   50
won         1   20   61  skunk 0
"""


def test_all_that_a_game_may_tell_is_read_and_written_as_it_stood() -> None:
    [told] = parse(EVERY_LINE)
    assert told.rules == Rules(target=61, triple_skunk=True, muggins="full", muggins_penalty=False)
    assert told.names == ("Anna", "Bert and the cat")
    assert told.lane == Lane(2**64 - 1, 3, "alternate", 1)
    fifteen = Line(Keyword.PLAY, 1, (18,), count=15, worth=2, words="fifteen two")
    [place] = [index for index, line in enumerate(told.deals[0].lines) if line == fifteen]
    assert EVERY_LINE.split("\n")[told.deals[0].lines[place].number - 1].startswith("play        1")
    assert write(told) == EVERY_LINE


def test_numbers_words_and_names_may_be_left_out() -> None:
    [told] = parse(f"{HEADING}deal\nplay 0 5H\nhand 1\nheels 0\nwon 1")
    lines = (
        Line(Keyword.PLAY, 0, (18,)),
        Line(Keyword.HAND, 1),
        Line(Keyword.HEELS, 0),
        Line(Keyword.WON, 1),
    )
    assert told == Transcript(deals=(Deal(lines=lines),))


def test_small_letters_blanks_comments_and_empty_lines_do_not_matter() -> None:
    written = f"{HEADING}deal 1 dealer 0\nthrow 0 5H TC\nplay 1 4D 4\n"
    typed = (
        "\ufeff# what comes before\n\n  crib_env game 1  # a comment\r\n"
        "DEAL 1  Dealer 0\n\tthrow 0   5h tc\r\nplay  1 4d 4 # four\n\n"
    )
    assert parse(typed) == parse(written)


def test_a_text_may_hold_several_games() -> None:
    text = f"{HEADING}deal 1 dealer 0\n\n{HEADING}rules target 61\n"
    first, second = parse(text)
    assert (first.line, second.line) == (1, 4)
    assert parse(write([first, second])) == [first, second]


def test_a_text_of_comments_alone_holds_no_game() -> None:
    assert parse("# nothing\n\n") == []


@pytest.mark.parametrize("name", PRESETS)
def test_rules_go_by_a_name_and_what_differs(name: str) -> None:
    [told, other] = parse(f"{HEADING}rules {name}\n{HEADING}rules {name} triple_skunk yes\n")
    assert told.rules == PRESETS[name]
    assert other.rules.triple_skunk
    assert parse(write(told))[0].rules == PRESETS[name]


def test_seats_may_have_no_name() -> None:
    [told] = parse(f"{HEADING}seat 1 Bert\n")
    assert told.names == ("", "Bert")
    assert parse(write(told)) == [told]


@pytest.mark.parametrize("name", ["a # b", "two\nlines", " blank", "\x1b[31m", "x" * 201])
def test_a_name_that_would_not_be_read_as_it_is_written_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="one line of text"):
        Transcript(names=(name, "b"))


def test_names_are_of_all_seats() -> None:
    with pytest.raises(ValueError, match="3 names: allowed are 2"):
        Transcript(names=("a", "b", "c"))


# ---- what is refused ----

NO_HEADING = [
    ("nothing of the kind", 1, "'nothing of the kind' stands there: a game begins with"),
    ("\n\ndeal 1 dealer 0\n", 3, "a game begins with 'crib_env game 1'"),
    ("crib_env game 2\n", 1, "allowed is version 1"),
    ("crib_env game\n", 1, "allowed is version 1"),
    ("crib_env game 1 2\n", 1, "allowed is version 1"),
    ("crib_env game one\n", 1, "allowed is version 1"),
]
IN_HEADING = [
    ("rules target", "'target' has no value"),
    ("rules target 0", "Rules.target=0: allowed is 1 to 121"),
    ("rules target x", "target 'x': allowed are whole numbers"),
    ("rules target 61 target 61", "'target' is there twice"),
    ("rules players 5", "Rules.players=5: allowed is 2 to 4"),
    ("rules players 3", "Rules.cards_dealt=6: allowed is 5 with 3 players"),
    ("rules triple_skunk maybe", "triple_skunk 'maybe': allowed are yes and no"),
    ("rules muggins some", "Rules.muggins='some': allowed are"),
    ("rules jokers 2", "'jokers': allowed are players, cards_dealt, target"),
    ("rules\nrules", "a game has one line 'rules'"),
    ("one_deal perhaps", "allowed are yes and no"),
    ("seat 2 Cleo", "seat '2': allowed is 0 to 1"),
    ("seat 0", "no text"),
    ("seat 0 Anna\nseat 0 Bert", "seat 0 has a name already"),
    ("note", "no text"),
    ("lane seed -1", "seed '-1': allowed is 0 to 18446744073709551615"),
    ("lane seed 18446744073709551616", "allowed is 0 to 18446744073709551615"),
    ("lane game x", "game 'x': allowed is 0 to"),
    ("lane first 2", "first '2': allowed are alternate, cut, loser, 0, 1"),
    ("lane first cut first_cut 1", "first_cut '1': allowed with first cut is 0 to 0"),
    ("lane first alternate first_cut 2", "first_cut '2': allowed with first alternate is 0 to 1"),
    ("lane first loser first_cut 4", "first_cut '4': allowed with first loser is 0 to 3"),
    ("lane luck 7", "'luck': allowed are seed, game, first, first_cut"),
    ("cut 5H", "1 cards: allowed are 2, one a seat"),
    ("cut 5H 6X", "card '6X': a card is a rank of"),
    ("cut 5H 5H", "5H is there twice"),
    ("scores 5", "score nothing: allowed is 0 to 120"),
    ("scores 5 121", "score '121': allowed is 0 to 120"),
    ("scores", "no scores: allowed are 2, one a side"),
    ("scores 5 6 7", "'7' is too much"),
    ("play 0 5H", "'play' stands before the first deal"),
    ("dael 1", "'dael' is no line: allowed are note, rules"),
    ("note a\x00b", r"'\x00' stands there: allowed is text"),
    ("note \x1b[2J", r"'\x1b' stands there"),
]
IN_DEAL = [
    ("paly 0 5H", "'paly' is no line: allowed are deal, dealt"),
    ("rules target 61", "'rules' stands after a deal"),
    ("deal 0", "deal '0': allowed is 1 to"),
    ("deal 2 dealer", "dealer nothing: allowed is 0 to 1"),
    ("deal 2 dealer 2", "dealer '2': allowed is 0 to 1"),
    ("deal 2 dealer 1 1", "'1' is too much"),
    ("play", "seat nothing: allowed is 0 to 1"),
    ("play 2 5H", "seat '2': allowed is 0 to 1"),
    ("play x 5H", "seat 'x': allowed is 0 to 1"),
    ("play 0", "0 cards: allowed with these rules are 1"),
    ("play 0 5H 6H", "2 cards: allowed with these rules are 1"),
    ("play 0 10H", "card '10H': a card is a rank of"),
    ("play 0 5X", "card '5X': a card is a rank of"),
    ("play 0 5H 0", "count '0': allowed is 1 to 31"),
    ("play 0 5H 32", "count '32': allowed is 1 to 31"),
    ("play 0 5H 15 +x", "points 'x': allowed is 0 to 99"),
    ("play 0 5H 15 +", "points nothing: allowed is 0 to 99"),
    ("play 0 5H 15 worth", "worth nothing: allowed is 0 to 99"),
    ("go", "seat nothing: allowed is 0 to 1"),
    ("go 0 5H", "'5H' is too much"),
    ("dealt 0 5H 6H", "2 cards: allowed with these rules are 6"),
    ("throw 0 5H 6H 7H", "3 cards: allowed with these rules are 1 or 2"),
    ("throw 0 5H 5H", "5H is there twice"),
    ("pack 5H", "with these rules, no card goes from the pack to the crib"),
    ("starter", "0 cards: allowed with these rules are 1"),
    ("hand 0 5H 6H 7H", "3 cards: allowed with these rules are 0 or 4"),
    ("crib 0 5H 6H 7H", "3 cards: allowed with these rules are 0 or 4"),
    ("claim 0", "points nothing: allowed is 0 to 31"),
    ("claim 0 32", "points '32': allowed is 0 to 31"),
    ("call 0 x", "points 'x': allowed is 0 to 31"),
    ("board 1", "score nothing: allowed is 0 to 121"),
    ("board 1 122", "score '122': allowed is 0 to 121"),
    ("won 2", "side '2': allowed is 0 to 1"),
    ("won 0\nplay 1 5H", "stands after 'won', which ends a game"),
    ("unfinished\ndeal 2 dealer 1", "stands after 'unfinished', which ends a game"),
]


@pytest.mark.parametrize(("text", "line", "reason"), NO_HEADING)
def test_a_text_without_a_heading_is_refused(text: str, line: int, reason: str) -> None:
    error = error_of(text)
    assert error.line == line
    assert reason in error.reason


@pytest.mark.parametrize(("lines", "reason"), IN_HEADING)
def test_a_line_that_no_heading_has_is_refused(lines: str, reason: str) -> None:
    error = error_of(HEADING + lines)
    assert error.line == 2 + lines.count("\n")
    assert reason in error.reason


@pytest.mark.parametrize(("lines", "reason"), IN_DEAL)
def test_a_line_that_no_deal_has_is_refused(lines: str, reason: str) -> None:
    error = error_of(f"{HEADING}deal 1 dealer 0\n{lines}")
    assert error.line == 3 + lines.count("\n")
    assert reason in error.reason


def test_an_error_names_the_line_and_what_stands_there() -> None:
    error = error_of(f"{HEADING}\ndeal 1 dealer 0\n\nplay 0 5X\n")
    assert str(error).startswith("line 5: 'play 0 5X': card '5X'")


def test_a_game_or_a_line_beyond_all_measure_is_refused() -> None:
    assert "more than 1,000 characters" in error_of(HEADING + "note " + 1_000 * "x").reason
    many = f"{HEADING}deal 1 dealer 0\n" + 100_001 * "go 0\n"
    assert "more than 100,000 lines" in error_of(many).reason


@pytest.mark.parametrize(
    "text",
    [
        "x" * 999,
        f"{HEADING}{'x' * 999}",
        f"{HEADING}rules {'x' * 900}",
        f"{HEADING}lane seed {'9' * 900}",
        f"{HEADING}deal 1 dealer 0\ngo 0 {'x ' * 400}",
        f"{HEADING}deal {'1' * 900}",
    ],
)
def test_errors_remain_short(text: str) -> None:
    assert len(str(error_of(text))) < 300


def test_lines_of_other_rules_are_read_by_those_rules() -> None:
    text = f"{HEADING}rules three_player\ndeal 1 dealer 2\npack 5H\nthrow 0 6H\nboard 1 2 3\n"
    [told] = parse(text)
    assert told.deals[0].lines[0].cards == tuple(parse_cards("5H"))
    assert told.deals[0].lines[2].scores == (1, 2, 3)
    assert "allowed with these rules are 1" in error_of(f"{text}throw 1 7H 8H").reason
