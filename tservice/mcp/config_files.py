"""Configuration files to sync, found by the registry and the environment.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import frozen

from tservice.clis.interfaces import CliEntry, CliKind, McpConfigFile, McpFormat

COPILOT = CliEntry.model_validate(
    {
        "id": "copilot",
        "label": "GitHub Copilot CLI",
        "shortBadge": "CP",
        "binaries": ["copilot"],
        "argv": ["copilot"],
        "capabilities": {
            "mcpConfig": {
                "path": ".copilot/mcp-config.json",
                "format": McpFormat.COPILOT,
                "relocation": {"envVar": "COPILOT_HOME", "path": "mcp-config.json"},
            }
        },
    },
    strict=False,
)
"""Entry for a CLI that is no session mode, but whose servers are synced."""


@frozen(kw_only=True)
class McpConfigLocation:
    """Configuration file of one CLI, or a file shared by several.

    @ivar path: absolute; C{None} if the CLI's own variable makes it relative, as its meaning
        depends on where the CLI runs.
    @ivar stated: the path as shown to users.
    """

    id: str
    label: str
    format: McpFormat
    path: Path | None
    stated: str
    installed: bool


def find_config_files(
    entries: Iterable[CliEntry],
    home: Path,
    environ: Mapping[str, str],
    installed: Callable[[CliEntry], bool],
) -> tuple[McpConfigLocation, ...]:
    """Return the files of the enabled CLIs that declare one, in the order of C{entries}, then
    Copilot CLI.
    """
    found: list[McpConfigLocation] = []
    for entry in (*entries, COPILOT):
        config = entry.capabilities.mcp_config
        if not entry.enabled or config is None:
            continue
        stated = _configured_path(config, home, environ)
        found.append(
            McpConfigLocation(
                id=entry.id,
                label=entry.label,
                format=config.format,
                path=Path(stated) if stated.startswith("/") else None,
                stated=stated,
                installed=installed(entry),
            )
        )
    return tuple(found)


def find_unsupported(
    entries: Iterable[CliEntry], installed: Callable[[CliEntry], bool]
) -> tuple[str, ...]:
    """Return the labels of the enabled and installed agents that declare no file."""
    return tuple(
        entry.label
        for entry in entries
        if entry.kind is CliKind.AGENT
        and entry.enabled
        and entry.capabilities.mcp_config is None
        and installed(entry)
    )


def _configured_path(config: McpConfigFile, home: Path, environ: Mapping[str, str]) -> str:
    """Return the path of the file; a relative path is kept."""
    if config.relocation is not None:
        folder = environ.get(config.relocation.env_var, "")
        if folder:
            return f"{folder.rstrip('/')}/{config.relocation.path}"
    return str(home / config.path)
