"""Agents that hang."""
