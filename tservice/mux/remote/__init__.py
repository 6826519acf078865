"""Runs tmux on remote hosts through ssh, and in containers through the engine's C{exec}."""
