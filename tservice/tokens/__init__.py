"""Scoped tokens: part of a user's rights, for a program."""
