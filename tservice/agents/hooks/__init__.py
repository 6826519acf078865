"""Hooks and status lines of agents: their setup and their intake."""
