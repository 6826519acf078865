"""Messages to a webhook when something needs a person (wire 12)."""
