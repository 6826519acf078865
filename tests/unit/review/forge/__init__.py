"""Tests of pull requests, with programs that play C{gh} and C{glab}."""
