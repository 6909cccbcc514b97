"""The rule book: throws, plays, go, the show, claims and calls, and the one way to peg.

A rule is a small function of one game (`game_record.RECORD`). Knows no batch, no observation and no
reward. Functions that change *game* say so; none checks whether an action is legal: whoever calls
`apply` has (batch.py, env.py). The ids in brackets are those of docs/rules.md.
"""

from __future__ import annotations

from crib_env.cards import CARDS_UP_TO, JACK, NUM_CARDS, bit_of, pips_of, rank_of
from crib_env.dealing import clear_claim, clear_count, deal, is_five_card, left_of, side_of
from crib_env.game_record import (
    A_CARD,
    A_CRIB,
    A_GO,
    A_HAND,
    CALL,
    CLAIM,
    CLAIM_ACTION,
    CLAIM_ALL,
    CRIB,
    DISCARD,
    HAND,
    HIS_HEELS,
    HIS_HEELS_POINTS,
    MAX_PLAYERS,
    MUGGINS,
    NUM_CLAIMS,
    OVER,
    PEGGING,
    PLAY,
    Game,
)
from crib_env.kernel import apart, bit_count, kernel
from crib_env.luck import mix
from crib_env.scoring import THIRTY_ONE, hand_score, pegging_score


@kernel
def legal(game: Game, player: int) -> int:
    """Returns the cards that *player* may choose now; none if it is to choose none (R5, R9)."""
    if game.phase >= OVER or player != game.turn:
        return 0
    if game.phase == DISCARD:
        return int(game.hands[player])
    return int(game.hands[player]) & int(CARDS_UP_TO[THIRTY_ONE - game.count])


@kernel
def is_claiming(game: Game) -> bool:
    """Returns whether the player to act is to claim or call, which it may of any number."""
    return game.phase > OVER


@kernel
def is_legal(game: Game, action: int) -> bool:
    """Returns whether the player to act may choose an action, which may be any whole number."""
    if is_claiming(game):
        return CLAIM_ACTION <= action < CLAIM_ACTION + NUM_CLAIMS
    if action < 0 or action >= NUM_CARDS:
        return False
    return bool((legal(game, int(game.turn)) >> action) & 1)


@kernel
def apply(game: Game, action: int) -> None:
    """Does what the player to act chose. Changes *game*; the caller knows it to be legal."""
    if game.phase == DISCARD:
        discard(game, action)
    elif game.phase == PLAY:
        play(game, action)
    elif game.phase == CLAIM:
        claim(game, action - CLAIM_ACTION)
    else:
        call(game, action - CLAIM_ACTION)


@kernel
def discard(game: Game, card: int) -> None:
    """Throws a card to the crib; after the dealer's last, the starter is cut. Changes *game*.

    The crib is a set: the order in which two cards are thrown leaves the same state (R5, R6).
    """
    player = game.turn
    game.hands[player] ^= bit_of(card)
    game.discards[player] |= bit_of(card)
    game.held[player] -= 1
    if bit_count(game.discards[player]) < game.num_discards:
        return
    game.crib |= game.discards[player]
    if player != game.dealer:
        game.turn = left_of(game, player)
    else:
        turn_starter(game)


@kernel
def turn_starter(game: Game) -> None:
    """Turns the starter, pegs his heels; the dealer's left is to lead (R7, R8). Changes *game*."""
    count_worth(game)
    add_worth(game, 1)
    game.phase = PLAY
    game.turn = left_of(game, game.dealer)
    if rank_of(game.starter) == JACK:
        peg(game, game.dealer, HIS_HEELS_POINTS, HIS_HEELS)


@kernel
def kept_by(game: Game, player: int) -> int:
    """Returns the cards that *player* has not thrown, laid or not."""
    kept = int(game.hands[player])
    for index in range(game.num_plays):
        if game.play_seats[index] == player:
            kept |= bit_of(game.plays[index])
    return kept


@kernel
def count_worth(game: Game) -> None:
    """Counts all hands and the crib as they will be worth in the show. Changes *game*."""
    for player in range(game.players):
        game.worth[player] = hand_score(kept_by(game, player), game.starter, False)
    game.worth[MAX_PLAYERS] = hand_score(int(game.crib), game.starter, True)


@kernel
def add_worth(game: Game, sign: int) -> None:
    """Adds this deal's hands and crib to the game's totals, or takes them out. Changes *game*."""
    for player in range(game.players):
        role = 0 if player == game.dealer else 1
        game.worth_totals[player, role] += sign * game.worth[player]
    game.worth_totals[game.dealer, 2] += sign * game.worth[MAX_PLAYERS]


@kernel
def play(game: Game, card: int) -> None:
    """Lays a card of the player to act and passes the turn on (R8). Changes *game*."""
    player = game.turn
    game.hands[player] ^= bit_of(card)
    game.held[player] -= 1
    game.plays[game.num_plays] = card
    game.play_seats[game.num_plays] = player
    game.num_plays += 1
    game.count += pips_of(card)
    game.pile = (int(game.pile) << 4) | rank_of(card)
    game.pile_size += 1
    points = pegging_score(int(game.pile), int(game.pile_size), int(game.count))
    if game.muggins == CLAIM_ALL:
        ask_claim(game, player, A_CARD, points)
        return
    peg(game, player, points, PEGGING)
    if game.phase != OVER:
        pass_turn(game, player)


@kernel
def pass_turn(game: Game, last: int) -> None:
    """Finds who plays after *last* laid a card: go, a new count, or the show (R10, R11, R38).

    Changes *game*.
    """
    # The next to the left whose card fits; one who holds only cards that do not fit says go.
    fits = CARDS_UP_TO[THIRTY_ONE - game.count]
    player = last
    for _ in range(game.players):
        player = left_of(game, player)
        if game.hands[player] & fits:
            game.turn = player
            return
        if game.hands[player] and game.count < THIRTY_ONE:
            game.gone |= 1 << player
            game.lacks[player] = max(game.lacks[player], THIRTY_ONE - game.count)
    # Nobody can play: go or last card, the same single point, never on top of 31.
    if game.count < THIRTY_ONE:
        if game.muggins == CLAIM_ALL:
            ask_claim(game, last, A_GO, 1)
            return
        peg(game, last, 1, PEGGING)
        if game.phase == OVER:
            return
    end_count(game, last)


@kernel
def end_count(game: Game, last: int) -> None:
    """Begins the next count, or the show (R13, R33). Changes *game*."""
    clear_count(game)
    if not is_five_card(game):
        # The next to the left of the last card who still holds cards leads.
        player = last
        for _ in range(game.players):
            player = left_of(game, player)
            if game.hands[player]:
                game.turn = player
                return
    show(game)


@kernel
def show(game: Game) -> None:
    """Counts hands from the dealer's left, the dealer's last, then the crib (R19). Changes *game*.

    Goes on from what has been shown. The first to reach the target has won: nothing after it is
    counted. Otherwise the deal passes (R3), or a game of one deal is over without a winner.
    """
    while game.shown <= game.players:
        player = game.dealer
        points = int(game.worth[MAX_PLAYERS])
        counting = A_CRIB
        if game.shown < game.players:
            player = (int(game.dealer) + 1 + int(game.shown)) % int(game.players)
            points = int(game.worth[player])
            counting = A_HAND
        game.shown += 1
        if game.muggins:
            ask_claim(game, player, counting, points)
            return
        peg(game, player, points, HAND if counting == A_HAND else CRIB)
        if game.phase == OVER:
            return
    if game.one_deal:
        game.phase = OVER
        return
    game.dealer = left_of(game, game.dealer)
    game.deal_number += 1
    deal(game)


@kernel
def ask_claim(game: Game, owner: int, counting: int, points: int) -> None:
    """Asks the owner of what is counted for a claim (R41, R44). Changes *game*.

    Args:
        game: The record.
        owner: The seat that counts it.
        counting: What, of `Counting`.
        points: What it is truly worth.
    """
    clear_claim(game)
    game.counting = counting
    game.owner = owner
    game.true_points = points
    game.phase = CLAIM
    game.turn = owner


@apart
def claim(game: Game, points: int) -> None:
    """Pegs what is claimed but no more than is there; calls follow (R41, R43, R45).

    Changes *game*.
    """
    owner = int(game.owner)
    game.claimed = points
    game.missed = max(int(game.true_points) - points, 0)
    source = PEGGING
    if game.counting == A_HAND:
        source = HAND
    elif game.counting == A_CRIB:
        source = CRIB
    peg(game, owner, min(points, int(game.true_points)), source)
    if game.phase != OVER and game.muggins_penalty and points > game.true_points:
        peg(game, left_of(game, owner), points - int(game.true_points), MUGGINS)
    if game.phase != OVER:
        ask_call(game)


@apart
def call(game: Game, points: int) -> None:
    """Pegs what is called, if so much was missed; a call of more pegs nothing (R42).

    Changes *game*.
    """
    player = int(game.turn)
    game.called[player] = points
    if points <= game.missed:
        game.missed -= points
        peg(game, player, points, MUGGINS)
    if game.phase != OVER:
        ask_call(game)


@apart
def ask_call(game: Game) -> None:
    """Asks the next seat of another side for a call; after the last, play goes on (R42).

    Everyone is asked whether or not anything was missed, so that being asked tells nothing. Changes
    *game*.
    """
    owner = int(game.owner)
    player = left_of(game, int(game.turn))
    while player != owner:
        if side_of(game, player) != side_of(game, owner):
            game.phase = CALL
            game.turn = player
            return
        player = left_of(game, player)
    counting = game.counting
    clear_claim(game)
    game.phase = PLAY
    if counting == A_CARD:
        pass_turn(game, owner)
    elif counting == A_GO:
        end_count(game, owner)
    else:
        show(game)


@kernel
def peg(game: Game, player: int, points: int, source: int) -> None:
    """Pegs points for *player*'s side: the only way to score and the only end of a game (R26).

    Changes *game*. No exact finish is needed, and no score passes the target (R27).
    """
    if points == 0:
        return
    side = side_of(game, player)
    gained = min(points, int(game.target) - int(game.scores[side]))
    game.scores[side] += gained
    game.points[player, source, 0 if player == game.dealer else 1] += gained
    if game.scores[side] == game.target:
        game.phase = OVER
        game.winner = side


@kernel
def luck_of(game: Game, player: int) -> tuple[int, int]:
    """Returns two random words of 32 bits for the decision that *player* has now.

    Keyed by (seed, game, deal, role, decision): neither other players nor the cards draw from it,
    and a pair of games with the seats exchanged gives each role the same luck.
    """
    role = player - int(game.dealer)
    if role < 0:
        role += int(game.players)
    # No two decisions of a role in a deal share a number: throws come before all plays, and what
    # is claimed is told apart by what it is and by how much lies open.
    decision = bit_count(int(game.discards[player])) + int(game.num_plays)
    if is_claiming(game):
        decision = 32 * int(game.counting) + int(game.num_plays) + int(game.shown)
    number = MAX_PLAYERS * decision + role + 1
    return mix(int(game.luck[0]), number), mix(int(game.luck[1]), number)
