"""Bounds of figures that come from outside."""

TOKENS_MAX = 2**53
"""What every reader of JSON can count exactly; more tokens than anybody ever spent."""
