"""Tests of L{tservice.timed_runs}."""
