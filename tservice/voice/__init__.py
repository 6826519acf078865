"""Dictation: a speech service turns speech recorded by a page into text."""
