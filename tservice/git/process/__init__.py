"""Processes of git, and what they may run, read and connect to."""
