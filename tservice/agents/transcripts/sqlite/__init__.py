"""Databases that agents write, and the child process that reads them."""
