"""Tests of L{tservice.core}."""
