"""Runtime that every feature depends on, and the form in which features are registered."""
