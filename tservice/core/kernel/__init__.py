"""Errors, events, scopes, time and background work: what every package builds on."""
