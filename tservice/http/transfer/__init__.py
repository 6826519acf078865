"""Request and response bodies that are streamed, never held completely."""
