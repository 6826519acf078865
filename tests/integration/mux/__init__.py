"""The multiplexer on a real tmux."""
