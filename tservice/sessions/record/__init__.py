"""Session records: storage, names, order and wire form."""
