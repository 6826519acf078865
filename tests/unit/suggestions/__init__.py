"""Tests of L{tservice.suggestions}."""
