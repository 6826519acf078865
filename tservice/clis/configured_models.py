"""Reading of the model name in an agent's own configuration file.

Unreadable files are ignored: they belong to the user, and the agent reports the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from tservice.clis.capabilities import ConfigReader
from tservice.core.disk.files import FileError, read_json, read_text
from tservice.core.values.value_limits import parse_toml

MODEL_LENGTH = 64
"""Maximum length of a displayed model name in characters (protocol-session)."""


def _read_toml(path: Path) -> Any:
    return parse_toml(read_text(path))


@frozen
class _ConfigSource:
    """File and key under which an agent stores its model.

    @ivar path: path relative to the home folder. If the variable C{env_var} is set, C{moved} is the
        path below the folder in that variable.
    @ivar keys: keys to follow in the file to reach the model name.
    """

    path: str
    env_var: str
    moved: str
    keys: tuple[str, ...]
    read: Callable[[Path], Any] = read_json


_SOURCES = {
    ConfigReader.CLAUDE: _ConfigSource(
        ".claude/settings.json", "CLAUDE_CONFIG_DIR", "settings.json", ("model",)
    ),
    ConfigReader.CODEX: _ConfigSource(
        ".codex/config.toml", "CODEX_HOME", "config.toml", ("model",), _read_toml
    ),
    ConfigReader.OPENCODE: _ConfigSource(
        ".config/opencode/opencode.json", "XDG_CONFIG_HOME", "opencode/opencode.json", ("model",)
    ),
    ConfigReader.GEMINI: _ConfigSource(
        ".gemini/settings.json", "GEMINI_CLI_HOME", ".gemini/settings.json", ("model", "name")
    ),
}


def read_configured_model(reader: ConfigReader, environ: Mapping[str, str]) -> str | None:
    """Return the configured model name without control characters, or C{None} if there is none.

    @param environ: environment of the pane. C{HOME} and the agent's own variables determine the
        file.
    """
    source = _SOURCES[reader]
    try:
        found = source.read(_config_file(source, environ))
    except (OSError, FileError, ValueError):
        return None
    for key in source.keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, str):
        return None
    return "".join(c for c in found if c.isprintable())[:MODEL_LENGTH] or None


def _config_file(source: _ConfigSource, environ: Mapping[str, str]) -> Path:
    moved = environ.get(source.env_var)
    if moved:
        return _absolute_folder(moved) / source.moved
    return _absolute_folder(environ.get("HOME", "")) / source.path


def _absolute_folder(folder: str) -> Path:
    if not folder.startswith("/"):
        raise ValueError("the agent resolves a relative folder differently")
    return Path(folder)
