"""Dictation: a speech service converts speech recorded by the web page to text."""
