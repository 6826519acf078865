"""Summaries for a person who was away."""
