"""Captured frames of a terminal: escape sequences, styles, rows and snapshots."""
