"""Acceptance of input: kind, order, permission, sequence numbers, journal and offline buffer."""
