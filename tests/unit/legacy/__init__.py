"""Tests of L{tservice.legacy}."""
