"""Tests that take long or break things on purpose."""
