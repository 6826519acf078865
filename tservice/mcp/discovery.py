"""Which files there are to sync, told from the registry and the environment.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import frozen

from tservice.clis.interfaces import CliEntry, CliKind, McpConfig, McpFormat

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
"""No mode that sessions run, but its servers are kept in step."""


@frozen(kw_only=True)
class McpFile:
    """One CLI's configuration file, or what several share.

    @ivar path: absolute; C{None} where the CLI's own variable makes it relative, for what that
        means depends on where the CLI runs.
    @ivar stated: the path as it is told of.
    """

    id: str
    label: str
    format: McpFormat
    path: Path | None
    stated: str
    installed: bool


def places(
    entries: Iterable[CliEntry],
    home: Path,
    environ: Mapping[str, str],
    installed: Callable[[CliEntry], bool],
) -> tuple[McpFile, ...]:
    """The enabled CLIs that declare a file, in the order of C{entries}, then Copilot CLI."""
    found: list[McpFile] = []
    for entry in (*entries, COPILOT):
        config = entry.capabilities.mcp_config
        if not entry.enabled or config is None:
            continue
        stated = _stated(config, home, environ)
        found.append(
            McpFile(
                id=entry.id,
                label=entry.label,
                format=config.format,
                path=Path(stated) if stated.startswith("/") else None,
                stated=stated,
                installed=installed(entry),
            )
        )
    return tuple(found)


def unsupported(
    entries: Iterable[CliEntry], installed: Callable[[CliEntry], bool]
) -> tuple[str, ...]:
    """Labels of the enabled and installed agents that declare no file."""
    return tuple(
        entry.label
        for entry in entries
        if entry.kind is CliKind.AGENT
        and entry.enabled
        and entry.capabilities.mcp_config is None
        and installed(entry)
    )


def _stated(config: McpConfig, home: Path, environ: Mapping[str, str]) -> str:
    """Where the file is; a relative path stays one."""
    if config.relocation is not None:
        folder = environ.get(config.relocation.env_var, "")
        if folder:
            return f"{folder.rstrip('/')}/{config.relocation.path}"
    return str(home / config.path)
