"""Passwords: hashes, checks, and the counting of wrong ones."""
