"""Usage limits and automatic commands."""
