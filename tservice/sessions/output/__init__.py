"""The way out: streams to terminal clients, flood mode, reading a terminal."""
