"""The multiplexer without processes."""
