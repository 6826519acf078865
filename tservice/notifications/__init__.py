"""Decisions about notices: which event is announced to whom, when and where (protocol-notices)."""
