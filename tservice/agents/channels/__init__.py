"""Channels: what agents report and accept beside their screens."""
