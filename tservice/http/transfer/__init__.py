"""Bodies that are never held whole: what comes in, and what goes out."""
