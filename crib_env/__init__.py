"""A Gymnasium environment for cribbage, over one rule book compiled by Numba.

``gymnasium.make("crib_env/Cribbage-v0")`` is one seat against an opponent (`env.CribbageEnv`);
`Games` is many games at once with both seats open, for self-play and search.
"""

import gymnasium as _gymnasium

from crib_env.batch import Games, IllegalActionError
from crib_env.bots import BOTS, Bot
from crib_env.cards import card_text, cards_text, parse_card, parse_cards
from crib_env.env import CribbageDealEnv, CribbageEnv
from crib_env.game_record import Phase, Role, Source
from crib_env.loops import OUTSIDE
from crib_env.luck import lane_seed
from crib_env.match import Match, MatchRules, Standing, cuts_for_deal
from crib_env.policy import BotPolicy, Policy
from crib_env.position import Position
from crib_env.rules import PRESETS, Rules
from crib_env.vector_env import CribbageDealVectorEnv, CribbageVectorEnv

__version__ = "0.1.0"

__all__ = [
    "BOTS",
    "OUTSIDE",
    "PRESETS",
    "Bot",
    "BotPolicy",
    "CribbageDealEnv",
    "CribbageDealVectorEnv",
    "CribbageEnv",
    "CribbageVectorEnv",
    "Games",
    "IllegalActionError",
    "Match",
    "MatchRules",
    "Phase",
    "Policy",
    "Position",
    "Role",
    "Rules",
    "Source",
    "Standing",
    "card_text",
    "cards_text",
    "cuts_for_deal",
    "lane_seed",
    "parse_card",
    "parse_cards",
]

_gymnasium.register(
    id="crib_env/Cribbage-v0",
    entry_point="crib_env.env:CribbageEnv",
    vector_entry_point="crib_env.vector_env:CribbageVectorEnv",
)
_gymnasium.register(
    id="crib_env/CribbageDeal-v0",
    entry_point="crib_env.env:CribbageDealEnv",
    vector_entry_point="crib_env.vector_env:CribbageDealVectorEnv",
)
