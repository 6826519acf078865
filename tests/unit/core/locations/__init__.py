"""Tests for C{tservice.core.locations}."""
