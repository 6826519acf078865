"""Transports to a service: on a Twisted reactor, for asyncio, or blocking."""
