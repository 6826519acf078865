"""Pauses at usage limits, and automatic commands."""
