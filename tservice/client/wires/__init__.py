"""Transports to a service: on a reactor, for asyncio, blocking."""
