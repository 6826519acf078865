"""Texts that people give and that are shown again."""

LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
"""A regular expression: one line without control characters."""
