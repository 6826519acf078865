"""Accounts of multi-user mode."""
