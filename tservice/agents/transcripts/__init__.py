"""Conversations as recorded by the agents themselves."""
