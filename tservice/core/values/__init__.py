"""Checks and limits of values that come from outside, and the base of JSON records."""
