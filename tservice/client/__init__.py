"""Python client of the service, and the command-line program C{tsctl}."""
