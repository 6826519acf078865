"""The multiplexer on tmux, by its control mode."""
