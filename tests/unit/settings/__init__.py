"""Tests of L{tservice.settings}."""
