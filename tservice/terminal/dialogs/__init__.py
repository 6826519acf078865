"""Dialogs of agents: their question, their options, and the keys that answer them."""
