"""Foundations that every other package may import: errors, configuration, events and time."""
