"""What plays: names and makes agents. An agent is a policy with a name."""

from agents.agent import Agent, make

__all__ = ["Agent", "make"]
