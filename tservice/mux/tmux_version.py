"""Minimum version of tmux, on this machine, on remote hosts and in containers."""

from __future__ import annotations

MIN_TMUX = (3, 2)
MIN_TMUX_TEXT = ".".join(map(str, MIN_TMUX))
