"""Scheduled jobs, which launch sessions at given times (protocol-cron)."""
