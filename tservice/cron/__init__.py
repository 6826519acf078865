"""Saved jobs that launch sessions at their times (protocol-cron)."""
