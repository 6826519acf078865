"""Output path: streams to terminal clients, flood mode, and reading of terminals."""
