"""Inbox of dialogs, and their answers."""
