"""Measurements, each as a ratio against a limit or a peer in the same run: C{python -m bench}."""
