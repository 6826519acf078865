"""Callers: who sends a request, and the interface of those who find it out."""
