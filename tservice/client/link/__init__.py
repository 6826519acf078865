"""Blocking access of C{tsctl} to a service: addresses, requests and streams, by the standard
library only.
"""
