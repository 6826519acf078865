"""Checks of cases: commands that run when an agent has ended a turn."""
