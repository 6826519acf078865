"""Sessions: records, lifecycle, input, output streams, waits and routes."""
