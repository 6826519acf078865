"""Agent CLIs and shells kept alive in tmux panes, driven over HTTP, SSE and WebSockets."""

__version__ = "0.1.0"
