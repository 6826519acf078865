"""Logging without secrets."""
