"""Scoped tokens, each of which gives a program part of a user's rights."""
