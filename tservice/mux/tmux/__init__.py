"""Multiplexer on tmux, through its control mode."""
