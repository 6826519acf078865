"""The routes of cases."""
