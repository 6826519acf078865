"""HTTP routes of cases."""
