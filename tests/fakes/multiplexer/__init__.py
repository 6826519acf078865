"""Fake multiplexer without processes, which behaves like the real one."""
