"""Dictation: speech that a page records, made into text by a service elsewhere."""
