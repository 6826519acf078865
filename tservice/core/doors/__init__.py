"""Threads for work that may hang, each kind behind a door of its own."""
