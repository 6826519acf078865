"""Usage limits and commands that are given by themselves."""
