"""Runtime that every feature depends on, and the registration of features."""
