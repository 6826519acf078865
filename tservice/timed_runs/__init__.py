"""Timed runs: sessions whose agent is kept working for a given time (protocol-legacy)."""
