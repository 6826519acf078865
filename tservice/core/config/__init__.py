"""What the operator chose, and where it was written."""
