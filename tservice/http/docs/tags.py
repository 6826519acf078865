"""Descriptions of the operations' tags."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TAGS: Mapping[str, str] = MappingProxyType(
    {
        "Access": "Signing in and out, tokens, and the tunnel",
        "Approvals": "Dialogs of agents that wait for an answer",
        "Audit": "Who did what",
        "CLIs": "The programs that sessions run",
        "Cases": "Folders that sessions work in, by name",
        "Containers": "Containers that sessions of cases live in",
        "Cron": "Jobs that run by themselves",
        "Diagnostics": "Whether the service and its host are well",
        "Documentation": "This document",
        "Events": "What happens, as it happens, and everything at a glance",
        "Files": "Files of workspaces, and what is sent to them",
        "Git": "The state of repositories, read only",
        "Hooks": "What agents report of themselves",
        "Intent": "Goals, and suggestions of what to type next",
        "MCP": "The tools of agents, over HTTP",
        "MCP servers": "Servers of one CLI added to the others",
        "Models": "Model endpoints of one's own",
        "Push": "Word to browsers that are closed",
        "Remote hosts": "Machines that sessions live on, by ssh",
        "Restore": "Sessions that a reboot has ended",
        "Sessions": "Making, starting, changing and ending sessions",
        "Settings": "What everybody's service does",
        "Terminal": "Typing into sessions, and what they show",
        "Timed runs": "Agents that are kept going until a moment",
        "Users": "Accounts",
        "Voice": "Speech into text",
        "Waits": "Being told when a session comes to a point",
        "Web tabs": "Pages of other servers beside the sessions",
        "Webhook": "Word to another service",
    }
)
