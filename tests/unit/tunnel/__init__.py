"""Tests of L{tservice.tunnel}."""
