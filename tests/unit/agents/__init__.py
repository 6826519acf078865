"""Tests of L{tservice.agents}."""
