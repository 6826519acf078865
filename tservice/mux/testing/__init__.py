"""A multiplexer without processes, true to the real one."""
