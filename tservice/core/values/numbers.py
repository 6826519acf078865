"""Limits on numbers that come from outside."""

TOKENS_MAX = 2**53
"""Largest integer that every JSON reader represents exactly; an upper limit for token counts."""
