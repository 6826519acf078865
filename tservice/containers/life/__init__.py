"""Monitoring of containers: their ends and pauses are reported to the sessions inside."""
