"""How a network learns cribbage: PPO self-play from configuration files."""
