"""The API's operations and records as Python types, all but L{calling} written by C{make docs}."""
