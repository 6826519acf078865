"""Settings file and its routes."""
