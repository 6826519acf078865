"""Webhook messages about events that need a person's attention (protocol-webhooks)."""
