"""Settings of the user's git configuration that apply when a repository is read.

The rest of the user's configuration is ignored, because it may define filters and programs that a
repository could select.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from tservice.git.process.isolation import RepositoryConfigKeys
from tservice.git.small_files import read_small_file

if TYPE_CHECKING:
    from dulwich.config import ConfigFile

_CONFIG_LIMIT = 1024 * 1024
_KEPT = ("excludesFile", "attributesFile", "autocrlf", "eol")
"""Keys of the section C{core} that determine what counts as changed.

None of them runs a program.
"""
_PATHS = frozenset({"excludesFile", "attributesFile"})


@frozen(kw_only=True)
class UserSettings:
    """Settings of the user's git configuration.

    @ivar core: values of the keys in section C{core} that are kept; paths are absolute.
    @ivar safe: folders of other users that C{safe.directory} lists; C{*} means any.
    """

    core: Mapping[str, str]
    safe: frozenset[bytes]

    def get_defaults(self, configured: RepositoryConfigKeys) -> dict[str, str]:
        """Return those settings that the repository does not set itself."""
        return {
            f"core.{key}": value
            for key, value in self.core.items()
            if f"core.{key.lower()}" not in configured.names
        }

    def is_trusted(self, root: bytes) -> bool:
        """Return true if the user's C{safe.directory} includes the working tree at C{root}."""
        return root in self.safe or b"*" in self.safe


def read_user_settings(home: Path, environ: Mapping[str, str]) -> UserSettings:
    """Read C{~/.config/git/config} and C{~/.gitconfig}.  Included files are not read."""
    folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    core = {"excludesFile": str(folder / "ignore"), "attributesFile": str(folder / "attributes")}
    safe: set[bytes] = set()
    for path in (folder / "config", home / ".gitconfig"):
        config = _parse_config(path)
        if config is None:
            continue
        core |= _read_core_settings(config, home)
        safe = _read_safe_folders(config, home, safe)
    return UserSettings(core=core, safe=frozenset(safe))


def _parse_config(path: Path) -> ConfigFile | None:
    from dulwich.config import ConfigFile  # 3 MB that an idle service does not need

    text = read_small_file(os.fsencode(path), _CONFIG_LIMIT)
    if text is None:
        return None
    try:
        return ConfigFile.from_file(BytesIO(text), expand_includes=False)
    except ValueError:
        return None  # git itself would reject this file


def _read_core_settings(config: ConfigFile, home: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in _KEPT:
        try:
            value = os.fsdecode(config.get((b"core",), key.encode()))
        except KeyError:
            continue
        found[key] = _expand_home(value, home) if key in _PATHS else value
    return found


def _read_safe_folders(config: ConfigFile, home: Path, before: set[bytes]) -> set[bytes]:
    """Return C{before} with the safe folders of C{config} added.

    An empty value resets the list, as in git.
    """
    found = set(before)
    if not config.has_section((b"safe",)):
        return found
    for value in config.get_multivar((b"safe",), b"directory"):
        if not value:
            found.clear()
            continue
        found.add(os.fsencode(_expand_home(os.fsdecode(value), home)))
    return found


def _expand_home(path: str, home: Path) -> str:
    return str(home / path[2:]) if path.startswith("~/") else path
