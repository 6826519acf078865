"""Timed runs: an agent that is kept going until a moment (protocol-legacy)."""
