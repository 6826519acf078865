"""A session as it is kept, named, ordered and shown."""
