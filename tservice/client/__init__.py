"""The Python client, and C{tsctl}."""
