"""Comparison of a working tree with a base: files, hunks, and their reversal."""
