"""The settings file and its routes."""
