"""Webhook messages about events that need a person (protocol-webhooks)."""
