"""Listener that only serves hooks from containers."""
