"""tmux on the remote end of a command: ssh, or a container engine's C{exec}."""
