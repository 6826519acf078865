"""Runs that keep going: the agent is told to continue after each turn until the time is over."""
