"""Golden playthroughs: games written down once, which every later version must play the same.

``python -m tests.make_playthroughs`` writes them anew: a full game of every variant and every kind
of muggins, and games that end in a special way, each the first of the seeds from 0 on. Its diff
shows what a change of the rules, the luck or the house players has changed. `test_playthroughs.py`
plays each from its seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from crib_env import Bot
from crib_env.explain import explain
from crib_env.narrator import points_of
from crib_env.notation import Keyword, Line, Transcript, write
from crib_env.notation.recorded_games import RecordedGames
from crib_env.notation.scribe import GO_WORDS, LAST_CARD_WORDS
from crib_env.rules import PRESETS, Rules

FOLDER = Path(__file__).parent / "playthroughs"
BATCH = 100  # seeds tried at a time
MOST_SEEDS = 20_000

Holds = Callable[[list[Line]], bool]
"""Whether a game, of whose last deal these are the lines, is what is looked for."""


@dataclass(frozen=True)
class Playthrough:
    """A game to be looked for."""

    note: str
    """What it shows."""
    rules: Rules = field(default_factory=Rules)
    """Its rules."""
    players: tuple[str, ...] = ("expert", "greedy")
    """Who plays, from seat 0; with more seats they take turns."""
    holds: Holds = lambda lines: True
    """What it is looked for by."""

    @property
    def names(self) -> tuple[str, ...]:
        """Who sits at each seat."""
        return tuple(self.players[seat % len(self.players)] for seat in range(self.rules.players))


def played(
    rules: Rules, names: tuple[str, ...], seeds: list[int], notes: tuple[str, ...]
) -> Iterator[Transcript]:
    """Yields the first game of each of some lanes, as house players play it."""
    games = RecordedGames(len(seeds), rules, seeds)
    games.play_bots([Bot[name.upper()] for name in names])
    for lane in range(len(seeds)):
        yield games.transcript(lane, names, notes)


def found(wanted: Playthrough) -> Transcript:
    """Returns the game of the first seed that is what is looked for.

    Raises:
        LookupError: If there is none.
    """
    for start in range(0, MOST_SEEDS, BATCH):
        seeds = list(range(start, start + BATCH))
        for told in played(wanted.rules, wanted.names, seeds, (wanted.note,)):
            if wanted.holds(list(told.deals[-1].lines)):
                return told
    raise LookupError(f"{wanted.note}: none of the seeds up to {MOST_SEEDS}")


# ---- what games are looked for by: the line before the end, most often ----


def ends_with(keyword: Keyword, words: str = "") -> Holds:
    """Returns whether a game is won by a line of this kind."""
    return lambda lines: lines[-2].keyword == keyword and (not words or lines[-2].words == words)


def won_saying(words: str) -> Holds:
    """Returns whether a game ends with these words of a skunk."""
    return lambda lines: lines[-1].words.startswith(words)


def pone_is_out_first(lines: list[Line]) -> bool:
    """Says whether pone's hand wins a game of two in which the dealer's would have won as well."""
    _, dealt, *_, shown, end = lines
    if shown.keyword != Keyword.HAND or shown.seat == dealt.seat:
        return False
    thrown, starter = (
        next(line.cards for line in lines if (line.keyword, line.seat) == told)
        for told in ((Keyword.THROW, dealt.seat), (Keyword.STARTER, None))
    )
    kept = set(dealt.cards) - set(thrown)
    worth = points_of(explain(kept, starter[0]))
    return worth >= Rules().target - end.scores[dealt.seat or 0]


def some_call(called: bool) -> Holds:
    """Returns whether a hand or crib of the last deal was called, rightly or wrongly."""
    return lambda lines: any(
        line.keyword == Keyword.CALL and bool(line.claimed) and bool(line.points) == called
        for line in lines
    )


CARELESS = ("careless", "careless")
SHOW = Rules(muggins="show")

PLAYTHROUGHS = {
    **{name: Playthrough(f"{name}, a full game", rules) for name, rules in PRESETS.items()},
    **{
        f"{name}_muggins_{muggins}": Playthrough(
            f"{name} with muggins {muggins}, a full game",
            replace(PRESETS[name], muggins=muggins),
            CARELESS,
        )
        for name, muggins in (
            ("six_card", "show"),
            ("short", "full"),
            ("five_card", "full"),
            ("three_player", "show"),
            ("four_player", "full"),
        )
    },
    "no_penalty": Playthrough(
        "muggins without the penalty, a full game",
        Rules(target=61, muggins="full", muggins_penalty=False),
        CARELESS,
    ),
    "skunk": Playthrough("a skunk", holds=won_saying("skunk")),
    "double_skunk": Playthrough(
        "a double skunk", players=("expert", "random"), holds=won_saying("double skunk")
    ),
    "triple_skunk": Playthrough(
        "a triple skunk",
        Rules(triple_skunk=True),
        ("expert", "random"),
        won_saying("triple skunk"),
    ),
    "won_by_his_heels": Playthrough("won by his heels", holds=ends_with(Keyword.HEELS)),
    "won_by_a_card": Playthrough("won by a card", holds=ends_with(Keyword.PLAY)),
    "won_by_a_go": Playthrough("won by a go", holds=ends_with(Keyword.LAST, GO_WORDS)),
    "won_by_the_last_card": Playthrough(
        "won by the last card", holds=ends_with(Keyword.LAST, LAST_CARD_WORDS)
    ),
    "won_by_pone_in_the_show": Playthrough(
        "won by pone in the show; the dealer, whose hand would do as well, does not count it",
        holds=pone_is_out_first,
    ),
    "won_by_the_crib": Playthrough("won by the crib", holds=ends_with(Keyword.CRIB)),
    "muggins_called": Playthrough(
        "muggins, called rightly in the last deal", SHOW, CARELESS, some_call(True)
    ),
    "muggins_called_wrongly": Playthrough(
        "muggins, called wrongly in the last deal", SHOW, ("careless", "random"), some_call(False)
    ),
    "won_by_a_call": Playthrough(
        "muggins, won by a call", SHOW, ("greedy", "random"), ends_with(Keyword.CALL)
    ),
    "won_by_an_excess": Playthrough(
        "muggins, won by the excess of a claim",
        SHOW,
        ("greedy", "random"),
        ends_with(Keyword.EXCESS),
    ),
}


def main() -> None:
    """Writes all playthroughs."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        if path.stem not in PLAYTHROUGHS:
            path.unlink()
    for name, wanted in PLAYTHROUGHS.items():
        told = found(wanted)
        (FOLDER / f"{name}.txt").write_text(write(told), encoding="utf-8")
        assert told.lane is not None
        print(f"{name}: seed {told.lane.seed}, {len(told.deals)} deals", flush=True)


if __name__ == "__main__":
    main()
