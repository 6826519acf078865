"""Validation of request data, and the limits of bodies."""
