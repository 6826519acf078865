"""Tests of L{tservice.webviews}."""
