"""Tokens that messages used: each message once, whatever file tells of it, and however often."""
