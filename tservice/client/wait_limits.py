"""Signals and limits of waits, for the client, its commands and the MCP tools (protocol-waits)."""

from __future__ import annotations

from typing import Literal

LONGEST_MS = 600_000
"""Longest wait of one request in milliseconds; a longer wait takes several requests."""

GIT_MS = 600_000
"""Milliseconds that a clone or a push may take: it uses the network, and hooks are programs."""

Signal = Literal["exit", "blocked", "checks", "stop", "idle", "working"]
