"""Operator's configuration and its sources."""
