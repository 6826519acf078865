"""Saved jobs that launch sessions at their times (interface.md Cron jobs, wire 8)."""
