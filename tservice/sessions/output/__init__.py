"""Output path: streams to terminal clients, flood mode, reading a terminal."""
