"""Ways to reach a service: on a reactor, for asyncio, blocking."""
