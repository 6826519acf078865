"""Locations of sessions: this machine, other OS users, remote hosts and containers."""
