"""Python client of the service, and C{tsctl}."""
