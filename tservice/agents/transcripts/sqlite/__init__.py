"""Databases that agents write, and the child that reads them."""
