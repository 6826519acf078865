"""Timed runs: an agent that is kept working for a given time (protocol-legacy)."""
