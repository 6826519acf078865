"""Hooks and status lines of agents: their configuration, and the intake of their reports."""
