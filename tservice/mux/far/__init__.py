"""tmux at the far end of a command: ssh, or an engine's C{exec}."""
