"""Tests for C{tservice.core.places}."""
