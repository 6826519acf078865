"""Pauses of the notices about one session."""
