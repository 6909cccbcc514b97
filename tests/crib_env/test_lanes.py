"""Where an episode may begin, and how it is copied and saved: all that `Lanes` gives both kinds."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.error import ResetNeeded

from crib_env import IllegalActionError, Phase, Rules, card_text, parse_cards

GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"
AGENT, OPPONENT = 0, 1

Array = npt.NDArray[Any]

POSITION: dict[str, Any] = {
    "dealer": OPPONENT,
    "scores": (100, 90),
    "hands": ("7C 8C 9C QC 2H 3H", "4D 5C 5H 6S TH KH"),
    "discards": ("2H 3H", "TH KH"),
    "starter": "JD",
    "plays": "QC 5H",
}


def inner(env: Any) -> Any:
    return env.unwrapped


def first_legal(info: dict[str, Any]) -> Any:
    return info["action_mask"].argmax(axis=-1)


def play_on(env: Any, info: dict[str, Any], steps: int = 60) -> list[bytes]:
    """Plays first legal cards; returns what was seen and paid, up to the episode's end."""
    seen = []
    for _ in range(steps):
        observation, reward, over, _, info = env.step(int(first_legal(info)))
        seen.append(observation.tobytes() + info["action_mask"].tobytes() + repr(reward).encode())
        if over:
            break
    return seen


# ---- positions ----


@pytest.mark.parametrize("env_id", [GAME, DEAL])
def test_reset_sets_a_position(env_id: str) -> None:
    env = gymnasium.make(env_id, reward="points", opponent="greedy")
    _, info = env.reset(seed=1, options=POSITION)
    assert not info["is_dealer"]
    # His heels and a fifteen for the dealer.
    assert (info["agent_score"], info["opponent_score"]) == (100, 94)
    legal = info["action_mask"].nonzero()[0]
    assert sorted(map(card_text, legal)) == ["7C", "8C", "9C"]


def test_an_opponent_who_is_to_act_plays_before_reset_returns() -> None:
    env = gymnasium.make(GAME, opponent="greedy")
    _, info = env.reset(options={**POSITION, "plays": "QC"})
    assert inner(env).games.records["num_plays"][0] >= 2
    assert inner(env).games.turn[0] == AGENT
    # Greedy takes the fifteen.
    assert info["opponent_score"] == 94


def test_scores_and_dealer_may_be_told_alone() -> None:
    for env_id in (GAME, DEAL):
        env = gymnasium.make(env_id, scores=(3, 4)) if env_id == DEAL else gymnasium.make(env_id)
        for dealer in (AGENT, OPPONENT):
            _, info = env.reset(seed=2, options={"scores": (33, 44), "dealer": dealer})
            assert (info["agent_score"], info["opponent_score"]) == (33, 44)
            assert info["is_dealer"] == (dealer == AGENT)
    _, info = env.reset(seed=2, options={"dealer": AGENT})
    assert (info["agent_score"], info["opponent_score"]) == (3, 4)


def test_scores_drawn_as_in_play_go_with_the_deal() -> None:
    env: Any = gymnasium.make(DEAL).unwrapped
    for seed in range(20):
        _, info = env.reset(seed=seed)
        own = (info["agent_score"], info["opponent_score"])
        for dealer in (AGENT, OPPONENT):
            _, told = env.reset(seed=seed, options={"dealer": dealer})
            same = (dealer == AGENT) == info["is_dealer"]
            assert (told["agent_score"], told["opponent_score"]) == (own if same else own[::-1])


def test_a_clone_shares_the_policies_of_its_pool() -> None:
    class Heavy:
        def __call__(self, observations: Any, action_masks: Any, luck: Any) -> Any:
            return action_masks.argmax(axis=1)

        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError("a network would be copied")

    env: Any = gymnasium.make(GAME, opponent=[(Heavy(), 1), ("expert", 1)]).unwrapped
    _, info = env.reset(seed=1)
    twin = env.clone()
    assert play_on(twin, info) == play_on(env, info)


def test_a_hand_alone_may_be_told_and_the_opponents_is_drawn() -> None:
    env = gymnasium.make(GAME, first_dealer="opponent")
    hands = set()
    for seed in range(20):
        env.reset(seed=seed, options={"hands": ("5H 5D 5S JC 2C 9D", None)})
        records = inner(env).games.records
        assert inner(env).action_masks().nonzero()[0].tolist() == sorted(
            parse_cards("5H 5D 5S JC 2C 9D")
        )
        hands.add(int(records["hands"][0, OPPONENT]))
    assert len(hands) == 20


def test_every_lane_of_a_vector_begins_in_the_position() -> None:
    envs: Any = gymnasium.make_vec(GAME, num_envs=5, opponent="greedy")
    single = gymnasium.make(GAME, opponent="greedy")
    observations, _ = envs.reset(seed=3, options=POSITION)
    one, _ = single.reset(seed=3, options=POSITION)
    assert all((row == one).all() for row in observations)
    # What follows is the lane's own again.
    envs.reset(seed=3)
    assert (envs.games.scores == 0).all()


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"dealers": 0}, "options: unknown 'dealers': allowed are dealer, scores, hands"),
    ({"dealer": 2}, "position: dealer 2"),
    ({"scores": (121, 0)}, "position: score 121"),
    ({"hands": "AC"}, "position"),
    ({"hands": ("AC 2C 3C 4C 5C 6C", "AC 2D 3D 4D 5D 6D")}, "position: card AC is there twice"),
    ({"hands": ("AX", None)}, "position: card 'AX'"),
    ({**POSITION, "plays": "5H"}, "position: illegal action"),
    ({**POSITION, "starter": "7C"}, "position: card 7C is there twice"),
    ({**POSITION, "scores": (100, 119)}, "position"),
    (
        {**POSITION, "scores": (0, 117), "plays": "QC"},
        "position: the episode is over before the agent has to choose",
    ),
]


@pytest.mark.parametrize(("options", "said"), IMPOSSIBLE)
def test_an_impossible_position_is_refused_and_the_game_before_goes_on(
    options: dict[str, Any], said: str
) -> None:
    env: Any = gymnasium.make(GAME, opponent="greedy", reward="points")
    twin: Any = gymnasium.make(GAME, opponent="greedy", reward="points")
    _, info = env.reset(seed=4)
    twin.reset(seed=4)
    for _ in range(5):
        info = env.step(int(first_legal(info)))[4]
    twin.unwrapped.load_state_dict(env.unwrapped.state_dict())
    for seed in (None, 77):
        with pytest.raises(ValueError, match=r"position|options") as caught:
            env.reset(seed=seed, options=options)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    assert play_on(env, info) == play_on(twin, info)


@pytest.mark.parametrize(("options", "said"), IMPOSSIBLE)
def test_an_impossible_position_is_refused_by_vectors_too(
    options: dict[str, Any], said: str
) -> None:
    envs: Any = gymnasium.make_vec(GAME, num_envs=3, opponent="greedy")
    envs.reset(seed=4)
    before = envs.games.records.tobytes()
    with pytest.raises(ValueError, match=r"position|options") as caught:
        envs.reset(seed=5, options=options)
    assert said in str(caught.value)
    assert envs.games.records.tobytes() == before


def test_an_impossible_position_before_the_first_game_leaves_none() -> None:
    env: Any = gymnasium.make(GAME)
    with pytest.raises(ValueError, match="position"):
        env.unwrapped.reset(options={"dealer": 9})
    with pytest.raises(ResetNeeded):
        env.unwrapped.step(0)


@pytest.mark.parametrize("env_id", [GAME, DEAL])
def test_d019_an_episode_may_end_right_after_the_discards(env_id: str) -> None:
    # At 119 the dealer wins by his heels, before a card is laid.
    options = {**POSITION, "scores": (50, 119), "discards": (), "plays": ""}
    for dealer, total in ((OPPONENT, -2.0), (AGENT, 2.0)):
        turned = {**options, "dealer": dealer}
        if dealer == AGENT:
            turned |= {"scores": (119, 50), "hands": POSITION["hands"][::-1]}
        for observation in ("vector", "dict"):
            choice: dict[str, Any] = {
                "reward": "points",
                "opponent": "greedy",
                "observation": observation,
            }
            env = gymnasium.make(env_id, **choice)
            _, info = env.reset(options=turned)
            paid, over, steps = 0.0, False, 0
            while not over:
                _, reward, over, _, info = env.step(int(first_legal(info)))
                paid += float(reward)
                steps += 1
            assert (steps, paid) == (2, total)
            assert info["won"] == (dealer == AGENT)
            assert info["action_mask"].all()
            envs: Any = gymnasium.make_vec(env_id, num_envs=3, **choice)
            _, infos = envs.reset(options=turned)
            _, rewards, over, _, infos = envs.step(first_legal(infos))
            assert not over.any()
            _, rewards, over, _, infos = envs.step(first_legal(infos))
            assert over.all()
            assert (rewards == total).all()
            _, rewards, over, _, infos = envs.step(first_legal(infos))
            assert not over.any()
            assert not rewards.any()


# ---- copies ----


@pytest.mark.parametrize("env_id", [GAME, DEAL])
@pytest.mark.parametrize("reward", ["points", "win_probability"])
def test_copies_go_on_with_the_same_cards(env_id: str, reward: str) -> None:
    env: Any = gymnasium.make(env_id, reward=reward).unwrapped
    _, info = env.reset(seed=5)
    for _ in range(3):
        info = env.step(int(first_legal(info)))[4]
    other: Any = gymnasium.make(env_id, reward=reward).unwrapped
    other.load_state_dict(pickle.loads(pickle.dumps(env.state_dict())))
    twins = [env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env)), other]
    wanted = play_on(env, info)
    for twin in twins:
        assert play_on(twin, info) == wanted
    # The lane's next game, too.
    after = env.reset()[0]
    for twin in twins:
        assert (twin.reset()[0] == after).all()


def test_a_clone_with_a_seed_keeps_what_is_dealt_and_draws_what_is_to_come() -> None:
    env: Any = gymnasium.make(GAME, opponent="random").unwrapped
    env.reset(seed=6)
    starters, cards = set(), set()
    for seed in range(300):
        twin = env.clone(seed=seed)
        for name in ("hands", "discards", "dealer", "turn", "game_number", "deal_number"):
            assert (twin.games.records[name] == env.games.records[name]).all()
        starters.add(int(twin.games.records["starter"][0]))
        cards.add(twin.reset()[0].tobytes())
    dealt = env.games.records["hands"][0].sum() | env.games.records["discards"][0].sum()
    assert len(starters) == 40
    assert not any((int(dealt) >> starter) & 1 for starter in starters)
    assert len(cards) == 300
    assert env.clone(seed=3).games.records.tobytes() == env.clone(seed=3).games.records.tobytes()


def test_a_starter_once_turned_stays_in_a_clone_with_a_seed() -> None:
    env: Any = gymnasium.make(GAME).unwrapped
    env.reset(seed=6, options=POSITION)
    assert {int(env.clone(seed=seed).games.records["starter"][0]) for seed in range(20)} == {
        int(env.games.records["starter"][0])
    }


def test_a_state_without_its_stream_holds_no_luck_and_goes_on_with_the_loaders() -> None:
    one: Any = gymnasium.make(GAME, opponent="random").unwrapped
    other: Any = gymnasium.make(GAME, opponent="random").unwrapped
    one.reset(seed=7)
    other.reset(seed=8)
    state = one.state_dict(random_stream=False)
    assert state["np_random"] is None
    for name in ("seed", "luck"):
        assert not state["games"][name].any()
    assert state["games"]["starter"].tolist() == [-1]
    other.load_state_dict(state)
    assert (other.games.records["hands"] == one.games.records["hands"]).all()
    assert (other.games.records["seed"] != one.games.records["seed"]).any()
    starter = int(other.games.records["starter"][0])
    assert 0 <= starter < 52
    # A state with its stream is the whole of it.
    other.load_state_dict(one.state_dict())
    assert other.games.records.tobytes() == one.games.records.tobytes()


def test_a_state_may_be_loaded_before_the_first_reset() -> None:
    one: Any = gymnasium.make(GAME).unwrapped
    _, info = one.reset(seed=7)
    for random_stream in (True, False):
        other: Any = gymnasium.make(GAME).unwrapped
        other.load_state_dict(one.state_dict(random_stream=random_stream))
        other.step(int(first_legal(info)))


def spoil(state: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Returns a state with one of its entries, or a field of its records, changed."""
    spoilt = copy.deepcopy(state)
    if name in spoilt:
        spoilt[name] = value
    elif name in spoilt["games"].dtype.names:
        spoilt["games"][name] = value
    else:
        spoilt["episodes"][name] = value
    return spoilt


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", 2),
        ("observation_version", 0),
        ("opponents", ["nobody"]),
        ("rules", {"target": 61}),
        ("games", np.zeros(2)),
        ("episodes", np.zeros(1)),
        ("reward", 3),
        ("gamma", 0.5),
        ("target", 61),
        ("players", 4),
        ("dealer", 2),
        ("turn", -1),
        ("phase", 9),
        ("starter", 52),
        ("num_plays", 17),
        ("plays", 60),
        ("play_seats", 3),
        ("hands", -1),
        ("scores", 122),
        ("pile_size", 99),
        ("member", 1),
        ("member", -1),
    ],
)
def test_a_state_of_something_else_is_refused_and_nothing_changes(name: str, value: Any) -> None:
    env: Any = gymnasium.make(GAME).unwrapped
    env.reset(seed=9)
    state = env.state_dict()
    before = pickle.dumps(state)
    with pytest.raises(ValueError, match=r"^(state|games): ") as caught:
        env.load_state_dict(spoil(state, name, value))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert pickle.dumps(env.state_dict()) == before


def test_a_state_that_lacks_a_key_is_refused() -> None:
    env: Any = gymnasium.make(GAME).unwrapped
    env.reset(seed=9)
    for name in env.state_dict():
        state = env.state_dict()
        del state[name]
        with pytest.raises(ValueError, match=f"state: no '{name}'"):
            env.load_state_dict(state)


def test_a_redeal_keeps_what_the_agent_sees() -> None:
    env: Any = gymnasium.make(GAME, opponent="greedy").unwrapped
    _, info = env.reset(seed=10)
    for _ in range(3):
        observation, _, _, _, info = env.step(int(first_legal(info)))
    hands = set()
    for seed in range(40):
        twin = env.clone()
        twin.redeal_hidden(seed)
        assert (twin.games.observe(AGENT)[0] == observation).all()
        hands.add(int(twin.games.records["hands"][0, OPPONENT]))
    assert len(hands) > 30
    with pytest.raises(ValueError, match="players"):
        env.redeal_hidden(1, seat=2)


def test_a_void_episode_stays_void_in_a_copy() -> None:
    def cheat(observations: Any, action_masks: Any, luck: Any) -> Any:
        return action_masks.argmin(axis=1)

    env: Any = gymnasium.make(GAME, opponent=cheat, first_dealer="opponent").unwrapped
    _, info = env.reset(seed=1)
    first, second = info["action_mask"].nonzero()[0][:2]
    env.step(first)
    with pytest.raises(IllegalActionError, match="opponent cheat"):
        env.step(second)
    for twin in (env, env.clone()):
        with pytest.raises(ResetNeeded):
            twin.step(second)


def test_games_of_one_deal_stop_after_the_crib_and_pass_to_the_next() -> None:
    from crib_env import Games

    games = Games(50, Rules(), seed=1, first_dealer=0, one_deal=True)
    games.play_bots([1, 1])
    assert games.over.all()
    assert (games.winner == -1).all()
    assert (games.records["phase"] == Phase.OVER).all()
    assert (games.records["num_plays"] == 8).all()
    assert (games.scores.sum(axis=1) > 0).all()
    games.next_game()
    assert not games.over.any()
    assert (games.records["game_number"] == 1).all()
    assert (games.scores == 0).all()
