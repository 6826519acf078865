"""Listener that serves only hooks from containers."""
