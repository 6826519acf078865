"""Long-running checks, run by hand; each module has a C{main}."""
