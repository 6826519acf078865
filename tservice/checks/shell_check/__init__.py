"""Checks in locations that are reached by a shell: containers and remote hosts."""
