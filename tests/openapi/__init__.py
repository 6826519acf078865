"""What reads the OpenAPI document: a linter, a generator of clients, a fuzzer."""
