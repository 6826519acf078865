"""Tests of L{tservice.store}."""
