"""Audit log of users' actions."""
