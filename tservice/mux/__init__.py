"""The multiplexer: one tmux server and one control client per session."""
