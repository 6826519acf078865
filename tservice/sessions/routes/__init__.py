"""HTTP operations of the sessions."""
