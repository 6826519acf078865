"""Puts the hooks into a workspace before its agent starts (protocol-hook-config)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from twisted.logger import Logger

from tservice.agents.hooks.config import UnusableSettings, merge_settings, own_status_line
from tservice.core.errors import ServiceError
from tservice.core.files import FileError, read_json, replacement
from tservice.core.kernelfiles import open_plain
from tservice.core.places.bounds import Inside

FOLDER = ".claude"
FILE = "settings.local.json"
_NEW_MODE = 0o644

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class FileRefused(Exception):
    """The file was not touched; the text says why, never what is in it."""


class HookConfig:
    """Writes C{<workspace>/.claude/settings.local.json}.

    @param home: where the user's own settings are, unless C{CLAUDE_CONFIG_DIR} moved them.
    """

    _log = Logger()

    def __init__(self, home: Path) -> None:
        self.home = home

    def write(
        self,
        workspace: Path,
        *,
        hooks: bool,
        telemetry: bool,
        environ: Mapping[str, str],
        inside: Inside,
    ) -> None:
        """Put the service's entries in, or take them out.

        Nothing is written where nothing changes, and no file is made only to hold nothing.

        @param environ: of the pane: says where the agent looks for the user's settings.
        @param inside: what the workspace must be in when it is opened.
        @raise Refused: the file was left alone.
        """
        try:
            with _opened(workspace, inside, make=hooks or telemetry) as folder:
                if folder is not None:
                    own = self._own_line(folder, environ) if telemetry else None
                    _change(folder, hooks=hooks, telemetry=telemetry, own_line=own)
        except FileError as error:
            raise FileRefused(str(error)) from None
        except ServiceError as error:
            raise FileRefused(error.message) from None
        except UnusableSettings as error:
            raise FileRefused(f"{FILE}: {error}") from None
        except OSError as error:
            raise FileRefused(f"{FOLDER}/{FILE}: {error.strerror}") from error

    def _own_line(self, folder: Path, environ: Mapping[str, str]) -> str | None:
        """The status line that the user would have without ours: the folder's, else their own.

        @param folder: of L{_opened}; a link in there may lead to what is not the account's.
        """
        return self._line_in(folder, os.O_NOFOLLOW) or self.user_line(environ)

    def user_line(self, environ: Mapping[str, str]) -> str | None:
        """Return the status line of the user's own settings.

        @param environ: as for L{write}.
        """
        moved = environ.get("CLAUDE_CONFIG_DIR", "")
        return self._line_in(Path(moved) if moved.startswith("/") else self.home / FOLDER, 0)

    def _line_in(self, folder: Path, flags: int) -> str | None:
        try:
            return own_status_line(_settings(folder, flags))
        except (OSError, FileError) as error:
            self._log.debug("no status line from {path}: {error}", path=folder, error=error)
            return None


def _settings(folder: Path, flags: int) -> Any:
    """What C{settings.json} holds.

    @param flags: of C{os.open}, beside those of a reading that waits for nothing.
    @raise OSError: it cannot be opened.
    @raise FileError: as L{read_json}.
    """
    opened = os.open(folder / "settings.json", os.O_RDONLY | os.O_NONBLOCK | flags)
    try:
        return read_json(Path(f"/proc/self/fd/{opened}"))
    finally:
        os.close(opened)


@contextmanager
def _opened(workspace: Path, inside: Inside, *, make: bool) -> Iterator[Path | None]:
    """The C{.claude} folder by its descriptor, so that nothing can be put in its place meanwhile.

    @raise OSError: it is a symbolic link (ELOOP, ENOTDIR), or no folder.
    @raise ServiceError: the workspace leads out of what it must be in.
    """
    base = open_plain(workspace, os.O_RDONLY | os.O_DIRECTORY)
    try:
        inside.check_real(os.readlink(f"/proc/self/fd/{base}"))
        if make:
            with suppress(FileExistsError):  # the next step judges what is there
                os.mkdir(FOLDER, 0o755, dir_fd=base)
        try:
            inner = os.open(FOLDER, _FOLDER_FLAGS, dir_fd=base)
        except FileNotFoundError:
            yield None
            return
    finally:
        os.close(base)
    try:
        yield Path(f"/proc/self/fd/{inner}")
    finally:
        os.close(inner)


def _change(folder: Path, *, hooks: bool, telemetry: bool, own_line: str | None) -> None:
    path = folder / FILE
    if path.is_symlink():
        raise FileRefused(f"{FILE}: is a symbolic link")
    there = os.path.lexists(path)
    before = read_json(path) if there else {}
    after = merge_settings(before, hooks=hooks, telemetry=telemetry, own_line=own_line)
    if after == before:
        return
    try:
        text = json.dumps(after, indent=2, ensure_ascii=False, allow_nan=False)
        data = (text + "\n").encode()
    except ValueError:
        raise FileRefused(f"{FILE}: holds a value that could not be written back") from None
    mode = path.stat().st_mode & 0o7777 if there else _NEW_MODE
    with replacement(path) as temporary:
        temporary.write_bytes(data)
        temporary.chmod(mode)
