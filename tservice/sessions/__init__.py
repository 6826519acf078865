"""Sessions: record, life, input, streams."""
