"""Handling of the terminal that C{tsctl} was started in."""
