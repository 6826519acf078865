"""Runs in which the agent gets a prompt to continue after each turn, until the time is over."""
