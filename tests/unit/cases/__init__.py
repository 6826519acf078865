"""Tests of L{tservice.cron}."""
