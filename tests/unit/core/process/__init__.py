"""Tests for L{tservice.core.process}."""
