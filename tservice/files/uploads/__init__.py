"""Uploads: forms written to disk as they arrive, and the removal of old ones."""
