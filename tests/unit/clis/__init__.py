"""Tests of L{tservice.clis}."""
