"""PettingZoo's side: a game in which every seat is an agent's, as an AEC environment.

It is one lane of `batch.Games`, with an episode beside it for each seat: every rule, mask,
observation and reward comes from there. Importing this file registers the environment with
PettingZoo, which nothing else in crib_env imports.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from crib_env.batch import Games, IllegalActionError
from crib_env.cards import NO_CARD
from crib_env.checks import named, whole_action
from crib_env.episode import ENDED
from crib_env.kernel import as_records
from crib_env.lanes import Witness, position_of
from crib_env.loops import ILLEGAL, NOBODY, forfeit_seats, see_one, step_seats
from crib_env.luck import check_seed
from crib_env.observation import observation_high, privileged_layout
from crib_env.options import MatchPoints, Options, RewardName, ShapingName
from crib_env.position import Position
from crib_env.records import FirstDealer, seed_words
from crib_env.render.table_view import RENDER_MODES, TableView
from crib_env.rules import Rules, RulesLike

try:
    import pettingzoo
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    if error.name != "pettingzoo":
        raise
    raise ModuleNotFoundError(
        'crib_env.aec_env needs PettingZoo: pip install "crib-env[pettingzoo]"', name="pettingzoo"
    ) from None

Array = npt.NDArray[Any]
Observation: TypeAlias = Array | dict[str, Array]

_LANE = np.zeros(1, np.int64)
_LOGGER = logging.getLogger("crib_env")
# An entry of the options of `reset` that is not looked at: PettingZoo's `api_test` resets with
# {"options": 1}, to see that options are taken.
_UNREAD_OPTION = "options"


class raw_env(pettingzoo.AECEnv):  # type: ignore[misc]  # noqa: N801  ships no types; names it so
    """A game of cribbage in which each seat is an agent, by any rules: `env` is what to make.

    ## Description

    The agents are ``"player_0"``, ``"player_1"`` and so on, one for each seat of the rules; the
    next one sits at the left. The agent to act is the seat that the rules ask, which may be the
    same several times in a row. All agents leave together when the game is over. With four, those
    opposite are partners.

    Actions, observations, rewards and what an episode's end is are those of `CribbageEnv`, whose
    page is docs/environment.md; what follows is what differs.

    ## Action Space

    `Discrete(52)`, with muggins `Discrete(84)`, the same for each agent.

    ## Observation Space

    ``observation="dict"``: `Dict` of ``"observation"``, uint8 of shape (F,), what the agent's seat
    may know, and ``"action_mask"``, int8 of shape (52,) or (84,), 1 = legal. The mask is all 1 for
    an agent that is not to act, and once the game is over.

    ``observation="vector"``: the former alone. The mask is in the information in any case.

    `observe(agent)` answers for every agent at any time, also after it has left.

    `state()` is a view of the whole table, uint8: what player_0 may know, then what it may not.

    ## Rewards

    Every agent is paid in `rewards` after each step, whoever has moved; as always with PettingZoo,
    `last()` sums them up since the agent's own last step. With ``shaping``, an agent is paid when
    it is to act or the game is over, so that the discount runs from one of its decisions to its
    next. Rewards of all agents sum to 0: each loser of a game of three pays half.

    ## Starting State

    ``reset(seed=s)`` begins the first game of the lane with seed *s*, ``reset()`` the lane's next;
    the cards are those of `CribbageEnv` with the same seed. Where no seed was ever given, one is
    drawn.

    ## Episode End

    All agents terminate when a score reaches the target; never truncated. Or by an illegal action:

    - ``illegal="forfeit"``: the game is over. The total of the agent and its partner becomes the
      worst that the scheme knows, whatever was paid before; the others share what they pay. One
      line goes to the logger ``"crib_env"``.
    - ``illegal="raise"``: `IllegalActionError`; the game may go on.

    ## Information

    Of each agent: `action_mask`, `agent_score`, `opponent_score` (the best of the other sides),
    `is_dealer`; at the end `won` and `skunk_level` (the winner's is that of the lowest loser); of
    the agent that forfeits `illegal_action`.

    ## Version History

    - v0: the first.

    Args:
        rules: The rules of the game: a `Rules`, a name such as ``"four_player"``, or a mapping.
        reward: ``"win"``, ``"points"``, ``"match_points"`` or ``"win_probability"``.
        first_dealer: Who deals first: ``"alternate"`` cuts for the lane's first game and alternates
            from game to game, ``"cut"`` cuts for each game, ``"loser"`` has the loser of the game
            before deal, a seat deals first in every game.
        illegal: What an illegal action does: ``"raise"`` or ``"forfeit"``.
        observation: ``"dict"`` or ``"vector"``.
        match_points: For ``reward="match_points"``, see `CribbageEnv`.
        shaping: None, ``"points"`` or ``"win_probability"``, with ``reward="win"`` only.
        shaping_gamma: Gamma of the shaping, 0 to 1: the discount of whoever learns.
        render_mode: None, ``"ansi"``, ``"human"`` or ``"rgb_array"``; player_0's view of the table.
        render_open_hands: Whether pictures show the cards that player_0 cannot see.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  PettingZoo declares it so
        "name": "cribbage_v0",
        "is_parallelizable": False,
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: RulesLike = None,
        reward: RewardName = "win",
        first_dealer: FirstDealer = "alternate",
        illegal: Literal["forfeit", "raise"] = "raise",
        observation: Literal["dict", "vector"] = "dict",
        match_points: MatchPoints = "acc",
        shaping: ShapingName = None,
        shaping_gamma: float = 1.0,
        render_mode: Literal["ansi", "human", "rgb_array"] | None = None,
        render_open_hands: bool = False,
    ) -> None:
        """Checks the options; the first game begins with `reset`."""
        super().__init__()
        self.options = Options(
            reward=reward,
            rules=rules,
            illegal=illegal,
            observation=observation,
            match_points=match_points,
            shaping=shaping,
            shaping_gamma=shaping_gamma,
        )
        rules = self.options.checked_rules
        self._games = Games(1, rules, 0, first_dealer)
        self._episodes = self.options.episodes(rules.players)
        self.possible_agents = [f"player_{seat}" for seat in range(rules.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: self.options.observation_space for agent in self.possible_agents
        }
        self.action_spaces = {agent: self.options.action_space for agent in self.possible_agents}
        self.state_space = spaces.Box(0, _state_high(rules), dtype=np.uint8)
        self.render_mode = render_mode
        self._view = TableView.of(render_mode, render_open_hands, rules, self.possible_agents)
        self._witnesses: dict[str, Witness] = {}
        self._begun = False
        self._forfeited = False
        self.agents: list[str] = []
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._bind()

    def _bind(self) -> None:
        """Sets what follows from the records: views that cost kernels least."""
        self._game_view = as_records(self._games.records)
        self._episode_view = as_records(self._episodes)

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.options.checked_rules

    @property
    def games(self) -> Games:
        """The batch behind this environment, for tests and search; it shows every hand.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        if not self._begun:
            raise ResetNeeded("there is no game yet: call env.reset() first")
        return self._games

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the observation space of an agent, the same object each time.

        Raises:
            ValueError: If there is no such agent.
        """
        self._seat(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Returns the action space of an agent, the same object each time.

        Raises:
            ValueError: If there is no such agent.
        """
        self._seat(agent)
        return self.action_spaces[agent]

    def _seat(self, agent: Any) -> int:
        """Returns the seat of an agent.

        Raises:
            ValueError: If there is no such agent.
        """
        # What is no text may not be looked up.
        if not isinstance(agent, str) or agent not in self._seats:
            raise ValueError(f"agent {named(agent)}: allowed are {', '.join(self._seats)}")
        return self._seats[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins the next game of the lane, or the first of another lane.

        Args:
            seed: The seed of the lane to begin, 0 to 2**64 - 1; None goes on with the present one.
            options: Where to begin, as the fields of a `crib_env.Position`. What is left out is as
                it would have been.

        Raises:
            ValueError: If the seed is out of range, or the position impossible, in one line; the
                game before goes on.
        """
        if seed is not None:
            seed = check_seed(seed)
        elif not self._begun:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if isinstance(options, Mapping):
            options = {name: options[name] for name in options if name != _UNREAD_OPTION}
        position = position_of(options)
        # On a copy: a position may turn out to be impossible.
        games = self._games.copy()
        if seed is not None:
            games.records["seed"] = seed_words([seed])
            games.records["game_number"] = -1
        games.next_game([0])
        if position is not None:
            games.set_position(0, _completed(games, position))
            if games.over[0]:
                raise ValueError("position: the game is over before anybody has to choose")
        self._games.records[:] = games.records
        self._begun, self._forfeited = True, False
        self._begin_agents()
        if self._view is not None:
            self._view.begin(self._games.records[0])
            self._view.show(self._games.records[0])
        self._tell(self._games.records, NO_CARD)

    def watch(self, name: str, witness: Witness | None) -> None:
        """Has somebody told of every action from now on, as `LanesOwner.watch` does.

        Copies and pickles of this environment are not watched.

        Args:
            name: What for; a second witness by one name takes the place of the first.
            witness: Who is told; None for nobody any more.
        """
        self._witnesses.pop(name, None)
        if witness is not None:
            self._witnesses[name] = witness

    def _tell(self, before: Array, action: int) -> None:
        """Tells all witnesses what has happened (`lanes.Witness`)."""
        for witness in self._witnesses.values():
            witness(_LANE, before.copy(), np.array([action]), self._games.records.copy())

    def _begin_agents(self) -> None:
        """Seats all agents at the game as it stands, nothing paid yet."""
        self.agents = self.possible_agents.copy()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._episodes["over"] = ENDED
        self._advance(NO_CARD)

    def step(self, action: Any) -> None:
        """Takes an action of the agent to act, `agent_selection`; None of one that terminated.

        Args:
            action: A card, any kind of int (also of NumPy, also a 0-d array), or 52 + k for a claim
                or call of k points.

        Raises:
            ResetNeeded: If all agents have left, or none has come.
            IllegalActionError: If the action is illegal under ``illegal="raise"``; nothing has
                changed.
            TypeError: If the action is no whole number.
            ValueError: If an agent that terminated takes an action that is not None.
        """
        if not self.agents:
            raise ResetNeeded("the game is over: call env.reset() before the next env.step()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        chosen = action if type(action) is int else whole_action(action, self.rules.num_actions)
        seen = self._view is not None or self._witnesses
        before = self._games.records.copy() if seen else self._games.records
        told = chosen
        if not 0 <= chosen < self._games.num_actions or not self._advance(chosen):
            self._refuse(chosen)
            told = ILLEGAL
        elif self._view is not None:
            self._view.next_step()
            self._view.witness(before, np.array([chosen]), self._games.records)
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        if self._view is not None:
            self._view.show(self._games.records[0])
        self._tell(before, told)

    def _advance(self, action: int) -> bool:
        """Applies an action and tells every agent; False, with nothing changed, if it is illegal.

        Args:
            action: An action, or NO_CARD to begin.
        """
        seats, size = len(self.possible_agents), self._games.num_actions
        rewards, masks = np.empty(seats), np.empty((seats, size), np.int8)
        facts = np.empty((seats, 3), np.int64)
        turn = step_seats(self._game_view, self._episode_view, action, rewards, masks, facts)
        if turn == ILLEGAL:
            return False
        self.rewards = dict(zip(self.agents, rewards.tolist(), strict=True))
        self.infos = {
            agent: {
                "action_mask": mask,
                "agent_score": own,
                "opponent_score": others,
                "is_dealer": deals == 1,
            }
            for agent, mask, (own, others, deals) in zip(
                self.agents, masks, facts.tolist(), strict=True
            )
        }
        if turn == NOBODY:
            self._add_end()
            self._terminate()
        else:
            self.agent_selection = self.agents[turn]
        return True

    def _add_end(self) -> None:
        """Adds to the information what the end of a game has."""
        target = self.rules.target
        lowest = int(self._games.scores.min())
        for info in self.infos.values():
            info["won"] = info["agent_score"] == target
            loser = lowest if info["won"] else info["agent_score"]
            info["skunk_level"] = self.rules.skunk_level(loser)

    def _terminate(self) -> None:
        """Has all agents leave, one step of each, player_0 first."""
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def _refuse(self, action: int) -> None:
        """Answers an illegal action: raises, or forfeits the game, which stays as it is.

        Raises:
            IllegalActionError: Under ``illegal="raise"``.
        """
        agent = self.agent_selection
        seat = self._seat(agent)
        text = self._games.illegal_text(0, action, seat, name_lane=False)
        if self.options.illegal == "raise":
            raise IllegalActionError(text)
        _LOGGER.warning("forfeit by %s: %s", agent, text)
        rewards = np.empty(len(self.agents))
        forfeit_seats(self._game_view, self._episode_view, seat, rewards)
        self._forfeited = True
        self.rewards = dict(zip(self.agents, rewards.tolist(), strict=True))
        sides = self.rules.sides
        for other, info in enumerate(self.infos.values()):
            # Of three, the other two have not won.
            won = sides == 2 and other % sides != seat % sides
            info |= {"won": won, "skunk_level": 0}
            info["action_mask"] = np.ones_like(info["action_mask"])
        self.infos[agent]["illegal_action"] = text
        self._terminate()
        if self._view is not None:
            self._view.next_step()
            self._view.forfeit(seat)

    def observe(self, agent: str) -> Observation:
        """Returns what an agent's seat may know now, also after the agent has left.

        Raises:
            ResetNeeded: Before the first `reset`.
            ValueError: If there is no such agent.
        """
        seat = self._seat(agent)
        games = self.games
        vector = np.empty(games.observation_size, np.uint8)
        mask = np.empty(games.num_actions, np.int8)
        see_one(self._game_view, seat, vector, mask)
        if self.options.observation == "vector":
            return vector
        if self._forfeited:
            mask[:] = 1
        return {"observation": vector, "action_mask": mask}

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns a view of the whole table: what player_0 may know, then what it may not.

        The slices are those of `crib_env.observation.layout`, then those of `privileged_layout`.
        For critics in training: no policy should be given it.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        games = self.games
        return np.concatenate([games.observe(0)[0], games.privileged(0)[0]])

    def render(self) -> Any:
        """Returns the table as player_0's seat sees it, in the form of the render mode.

        ``"ansi"``: a str. ``"rgb_array"``: (540, 960, 3) uint8. ``"human"``: None; each reset and
        step prints the table by itself.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        games = self.games
        if self._view is None:
            gymnasium.logger.warn('render() without a render mode: env(render_mode="ansi") has one')
            return None
        return self._view.render(games.records[0])

    def close(self) -> None:
        """Needs to close nothing: no window is ever opened."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the environment; its game goes on with the same cards."""
        # Views of a pickle or a copy have come apart from the records.
        self.__dict__.update(state)
        self._witnesses = {}
        self._bind()


def env(*, illegal: Literal["forfeit", "raise"] = "forfeit", **options: Any) -> pettingzoo.AECEnv:
    """Returns the environment in PettingZoo's wrappers, which see to the order of calls.

    An action outside the action space raises AssertionError; an illegal one forfeits the game,
    unless told otherwise.

    Args:
        illegal: What an illegal action does: ``"forfeit"`` or ``"raise"``.
        options: Those of `raw_env`.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """
    inner = wrappers.AssertOutOfBoundsWrapper(raw_env(illegal=illegal, **options))
    return wrappers.OrderEnforcingWrapper(inner)


def _state_high(rules: Rules) -> npt.NDArray[np.uint8]:
    """Returns the highest value of each entry of the state, uint8; the lowest is 0."""
    fields = privileged_layout(rules).values()
    hidden = [np.full(field.stop - field.start, field.high, np.uint8) for field in fields]
    return np.concatenate([observation_high(rules), *hidden])


def _completed(games: Games, position: Position) -> Position:
    """Returns a position with the scores of a game that begins where it tells none.

    With another dealer than the game has, they go over to the other side: they are the dealer's and
    pone's (R30).
    """
    if position.scores is not None:
        return position
    scores = tuple(games.scores[0].tolist())
    if position.dealer not in (None, int(games.records["dealer"][0])):
        scores = scores[::-1]
    return replace(position, scores=scores)


if hasattr(pettingzoo, "register"):  # since 1.27
    pettingzoo.register("aec", "crib_env/Cribbage-v0", entry_point="crib_env.aec_env:env")
