"""Tests of L{tservice.restore}."""
