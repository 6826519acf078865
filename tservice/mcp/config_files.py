"""Search for the configuration files to sync, by the CLI registry and the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import frozen

from tservice.clis.interfaces import CliEntry, CliKind, McpConfigFile, McpFormat


@frozen(kw_only=True)
class McpConfigLocation:
    """MCP configuration file of one CLI, or a file that several CLIs share.

    @ivar path: absolute path. C{None} if a variable of the CLI contains a relative path, whose
        meaning depends on the folder in which the CLI runs.
    @ivar stated: path as shown to users.
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
    """Return the configuration files of the enabled CLIs, in the order of C{entries}.

    @param home: home folder of the service's user.
    @param installed: returns true if the CLI of an entry is installed.
    """
    found: list[McpConfigLocation] = []
    for entry in entries:
        config = entry.capabilities.mcp_config
        if not entry.enabled or config is None:
            continue
        stated = _find_configured_path(config, home, environ)
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


def list_unsupported_agents(
    entries: Iterable[CliEntry], installed: Callable[[CliEntry], bool]
) -> tuple[str, ...]:
    """Return the labels of enabled and installed agents without a known configuration file."""
    return tuple(
        entry.label
        for entry in entries
        if entry.kind is CliKind.AGENT
        and entry.enabled
        and entry.capabilities.mcp_config is None
        and installed(entry)
    )


def _find_configured_path(config: McpConfigFile, home: Path, environ: Mapping[str, str]) -> str:
    """Return the path of a CLI's configuration file. A relative path in a variable is returned
    unchanged.
    """
    if config.relocation is not None:
        folder = environ.get(config.relocation.env_var, "")
        if folder:
            return f"{folder.rstrip('/')}/{config.relocation.path}"
    return str(home / config.path)
