"""Deprecated operations C{/api/scheduled}: jobs that run once, at once, and keep going."""
