"""Readers of the conversations that the agents themselves record."""
