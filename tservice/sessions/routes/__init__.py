"""The operations of the sessions."""
