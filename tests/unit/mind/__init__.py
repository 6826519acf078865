"""Tests of L{tservice.mind}."""
