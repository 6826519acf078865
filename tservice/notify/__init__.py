"""Messages to a webhook when something needs a person (protocol-webhooks)."""
