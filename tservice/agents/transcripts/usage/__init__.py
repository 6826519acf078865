"""Tokens used by messages; each message counts once, even if several files repeat it."""
