"""Blocking connections of C{tsctl} to a service: addresses, requests, streams.  Standard library
only.
"""
