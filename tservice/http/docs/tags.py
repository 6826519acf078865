"""Tags of the operations in the OpenAPI document, and their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TAGS: Mapping[str, str] = MappingProxyType(
    {
        "Access": "Sign-in and sign-out, tokens, and the tunnel",
        "Approvals": "Dialogs of agents that wait for an answer",
        "Audit": "Audit log",
        "CLIs": "The programs that sessions run",
        "Cases": "Named folders that sessions work in",
        "Containers": "Containers in which the sessions of cases run",
        "Cron": "Scheduled jobs",
        "Diagnostics": "Health of the service and its host",
        "Documentation": "API documentation",
        "Events": "Live events, and the complete state",
        "Files": "Files of workspaces, and uploads to them",
        "Git": "State of repositories, read-only",
        "Review": "What sessions changed: comments and commits",
        "Pull requests": "Pull requests of the branches of sessions, by gh and glab",
        "Hooks": "Reports of agents",
        "Intent": "Goals, and suggestions for the next input",
        "MCP": "Tools for agents, over HTTP",
        "MCP servers": "Sync of MCP servers between CLIs",
        "Models": "Custom model endpoints",
        "Notices": "Pauses and rules of notices, and push to closed browsers",
        "Remote hosts": "Machines on which sessions run, by ssh",
        "Restore": "Restore of sessions that a reboot ended",
        "Sessions": "Sessions: create, start, change and end",
        "Settings": "Settings of the service for all users",
        "Terminal": "Input and output of sessions",
        "Timed runs": "Agents that run until a set time",
        "Users": "Accounts",
        "Voice": "Speech recognition",
        "Waits": "Waits for signals of sessions",
        "Web tabs": "Pages of other servers, shown next to the sessions",
        "Webhook": "Notifications to another service",
    }
)
