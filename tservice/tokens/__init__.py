"""Scoped tokens: a part of one's own rights, for a program."""
