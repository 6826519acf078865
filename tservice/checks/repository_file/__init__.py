"""Checks that a repository brings in a file, which count after a person approved the file."""
