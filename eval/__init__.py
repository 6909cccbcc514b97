"""Measurements and witnesses: programs that judge the environment and the players from outside."""
