"""Folders where version managers, package managers and installers put programs.

A service started by systemd or cron has a minimal C{PATH}; these folders are searched after it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from glob import escape, glob
from pathlib import Path

_HOME = "~/"

_RELOCATED = (
    ("NVM_DIR", "~/.nvm", ("versions/node/*/bin",)),
    ("FNM_DIR", "~/.local/share/fnm", ("aliases/default/bin", "node-versions/*/installation/bin")),
    ("FNM_DIR", "~/.fnm", ("aliases/default/bin", "node-versions/*/installation/bin")),
    ("VOLTA_HOME", "~/.volta", ("bin",)),
    ("ASDF_DATA_DIR", "~/.asdf", ("shims", "bin", "installs/nodejs/*/bin")),
    ("MISE_DATA_DIR", "~/.local/share/mise", ("shims", "installs/*/*/bin")),
    ("BUN_INSTALL", "~/.bun", ("bin",)),
    ("PNPM_HOME", "~/.local/share/pnpm", ("", "bin")),
    ("N_PREFIX", "~/n", ("bin",)),
    ("NODENV_ROOT", "~/.nodenv", ("shims", "bin")),
    ("PROTO_HOME", "~/.proto", ("shims", "bin")),
    ("DENO_INSTALL", "~/.deno", ("bin",)),
    ("CARGO_HOME", "~/.cargo", ("bin",)),
    ("HOMEBREW_PREFIX", "/home/linuxbrew/.linuxbrew", ("bin",)),
    ("HOMEBREW_PREFIX", "~/.linuxbrew", ("bin",)),
    ("HOMEBREW_PREFIX", "/opt/homebrew", ("bin",)),
)
"""Tuples of the variable that can name another folder, the default folder, and the patterns of its
subfolders with programs.
"""

_DATA = "~/.local/share"
"""Default of C{XDG_DATA_HOME}."""

_FIRST = ("~/.local/bin", "~/.npm-global/bin", "/usr/local/bin")
_LAST = (
    "~/bin",
    "~/.claude/local",
    "~/.claude/local/node_modules/.bin",
    "~/.opencode/bin",
    "~/.codex/bin",
    "~/.antigravity/antigravity/bin",
    "~/.npm-packages/bin",
    "~/.npm/bin",
    "~/.yarn/bin",
    "~/.config/yarn/global/node_modules/.bin",
    "~/go/bin",
    "~/.nix-profile/bin",
    "/nix/var/nix/profiles/default/bin",
    "/snap/bin",
)

NPM_SETTINGS = ".npmrc"
"""Name of the npm settings file in the home folder; its C{prefix} is the folder of installed
programs.
"""
_NPM_BYTES = 64 * 1024
_NPM_PREFIX = re.compile(r"^\s*prefix\s*=\s*[\"']?([^\"'\n]+?)[\"']?\s*$", re.MULTILINE)
_DIGITS = re.compile(r"([0-9]+)")

MOST_VERSIONS = 40
"""Limit on the folders of one pattern that are searched, newest versions first."""


def list_folder_patterns(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders to search, with C{~} for the home folder and C{*} for any version.

    @param environ: the environment, whose variables may name other folders of version managers.
    """
    data = _absolute_folder(environ.get("XDG_DATA_HOME", "")) or _DATA
    relocated = (
        _join_folders(_absolute_folder(environ.get(name, "")) or usual.replace(_DATA, data), below)
        for name, usual, folders in _RELOCATED
        for below in folders
    )
    npm = _absolute_folder(environ.get("NPM_CONFIG_PREFIX", environ.get("npm_config_prefix", "")))
    named = (f"{npm}/bin",) if npm else ()
    return tuple(dict.fromkeys((*_FIRST, *named, *relocated, *_LAST)))


def find_matching_folders(patterns: Iterable[str], home: Path) -> tuple[Path, ...]:
    """Return the folders that match C{patterns}, for each pattern the newest version first.

    Folders of patterns without C{*} are returned even if they do not exist.  This call blocks: the
    folders above a C{*} are listed.
    """
    found: list[Path] = []
    for pattern in patterns:
        parts = _split_pattern(pattern, str(home))
        if len(parts) == 1:
            found.append(Path(parts[0]))
            continue
        versions = glob("*".join(map(escape, parts)))
        found.extend(map(Path, sorted(versions, key=_version_key, reverse=True)[:MOST_VERSIONS]))
    return tuple(dict.fromkeys(found))


def list_version_folders(patterns: Iterable[str], home: Path) -> tuple[str, ...]:
    """Return the folders that L{find_matching_folders} accesses: for each pattern the folder of
    versions.
    """
    return tuple(_split_pattern(pattern, str(home))[0].rstrip("/") for pattern in patterns)


def format_search_folders(patterns: Iterable[str], home: Path) -> tuple[str, ...]:
    """Return C{patterns} as absolute paths for display, existing or not; C{*} means any version."""
    return tuple(
        dict.fromkeys("*".join(_split_pattern(pattern, str(home))) for pattern in patterns)
    )


def find_npm_folder(home: Path) -> tuple[str, ...]:
    """Return npm's program folder from the user's settings, as a tuple that is empty if unset.

    This call blocks: the settings file is read.
    """
    try:
        with open(home / NPM_SETTINGS, encoding="utf-8", errors="replace") as file:
            found = _NPM_PREFIX.search(file.read(_NPM_BYTES))
    except OSError:
        return ()
    if found is None:
        return ()
    prefix = _path_below(found[1].replace("${HOME}", "~", 1), str(home))
    return (f"{prefix.rstrip('/')}/bin",) if prefix.startswith("/") else ()


def sort_program_folders(folders: Iterable[str], home: str) -> tuple[str, ...]:
    """Return those of C{folders} that match a pattern, in the order of L{find_matching_folders}.

    @param home: the home folder that contains C{folders}.
    """
    known = tuple(folders)
    found: list[str] = []
    for pattern in list_folder_patterns({}):
        rule = re.compile("[^/]+".join(map(re.escape, _split_pattern(pattern, home))))
        matching = filter(rule.fullmatch, known)
        found.extend(sorted(matching, key=_version_key, reverse=True)[:MOST_VERSIONS])
    return tuple(dict.fromkeys(found))


def format_shell_patterns() -> str:
    """Return the patterns as text for a POSIX shell, which expands them to existing folders.

    All characters but C{*} are quoted, and the home folder is C{$HOME}.
    """
    words = []
    for pattern in list_folder_patterns({}):
        home = pattern.startswith(_HOME)
        rest = pattern.removeprefix(_HOME).replace("*", "'*'")
        words.append(f"\"$HOME\"/'{rest}'" if home else f"'{rest}'")
    return " ".join(words).replace("''", "")


def join_path(*paths: str) -> str:
    """Join values of C{PATH}; each absolute folder occurs once, at its first position."""
    folders = (folder for path in paths for folder in path.split(":"))
    return ":".join(dict.fromkeys(folder for folder in folders if folder.startswith("/")))


def _absolute_folder(folder: str) -> str:
    return folder.rstrip("/") if folder.startswith("/") else ""


def _join_folders(folder: str, below: str) -> str:
    return f"{folder}/{below}" if below else folder


def _split_pattern(pattern: str, home: str) -> list[str]:
    """Return the parts of a pattern between its C{*}.

    A C{*} in the name of the home folder is an ordinary character.
    """
    first, *rest = pattern.split("*")
    return [_path_below(first, home), *rest]


def _path_below(path: str, home: str) -> str:
    return os.path.join(home, path[len(_HOME) :]) if path.startswith(_HOME) else path


def _version_key(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(path)]
