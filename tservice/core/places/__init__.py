"""Locations of sessions."""
