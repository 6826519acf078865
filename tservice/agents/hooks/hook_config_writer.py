"""Writer that adds hooks to a workspace before its agent starts (protocol-hook-config)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from twisted.logger import Logger

from tservice.agents.hooks.hook_config import (
    CommandHook,
    UnusableSettingsError,
    find_own_status_line,
    merge_settings,
)
from tservice.core.disk.files import FileError, read_json, replace_atomically
from tservice.core.disk.kernel_paths import open_without_magic_links
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.workspace_bounds import FolderLimit

FOLDER = ".claude"
FILE = "settings.local.json"
_NEW_MODE = 0o644

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class FileRefusedError(Exception):
    """The settings file was not changed; the text gives the reason, never the content."""


class HookConfigWriter:
    """Writer of C{<workspace>/.claude/settings.local.json}.

    @param home: the home folder with the user's own settings, unless C{CLAUDE_CONFIG_DIR} is set.
    """

    _log = Logger()

    def __init__(self, home: Path) -> None:
        self.home = home

    def write_config(
        self,
        workspace: Path,
        *,
        hooks: bool,
        telemetry: bool,
        environ: Mapping[str, str],
        inside: FolderLimit,
        dialog_hook: CommandHook | None = None,
    ) -> None:
        """Add the service's entries to the workspace's settings, or remove them.

        An unchanged file is not written, and no empty file is created.

        @param hooks: true to add the hooks, false to remove them.
        @param telemetry: true to add the status line, false to remove it.
        @param environ: the environment of the pane, which determines where the agent finds the
            user's settings.
        @param inside: the folder that must contain the workspace when it is opened.
        @param dialog_hook: see L{merge_settings}.
        @raise FileRefusedError: the file was not changed.
        """
        try:
            with _open_folder(workspace, inside, make=hooks or telemetry) as folder:
                if folder is not None:
                    own = self._find_effective_status_line(folder, environ) if telemetry else None
                    _update_file(
                        folder,
                        hooks=hooks,
                        telemetry=telemetry,
                        own_line=own,
                        dialog_hook=dialog_hook,
                    )
        except FileError as error:
            raise FileRefusedError(str(error)) from None
        except ServiceError as error:
            raise FileRefusedError(error.message) from None
        except UnusableSettingsError as error:
            raise FileRefusedError(f"{FILE}: {error}") from None
        except OSError as error:
            raise FileRefusedError(f"{FOLDER}/{FILE}: {error.strerror}") from error

    def _find_effective_status_line(self, folder: Path, environ: Mapping[str, str]) -> str | None:
        """Return the status line command that is effective without the service's entry.

        This is the folder's command, otherwise the one in the user's own settings.

        @param folder: the result of L{_open_folder}; a link in it may lead outside the account's
            files.
        """
        return self._read_status_line(folder, os.O_NOFOLLOW) or self.find_user_line(environ)

    def find_user_line(self, environ: Mapping[str, str]) -> str | None:
        """Return the status line command in the user's own settings; C{None} if there is none.

        @param environ: see L{write_config}.
        """
        moved = environ.get("CLAUDE_CONFIG_DIR", "")
        return self._read_status_line(
            Path(moved) if moved.startswith("/") else self.home / FOLDER, 0
        )

    def _read_status_line(self, folder: Path, flags: int) -> str | None:
        try:
            return find_own_status_line(_read_settings(folder, flags))
        except (OSError, FileError) as error:
            self._log.debug("no status line from {path}: {error}", path=folder, error=error)
            return None


def _read_settings(folder: Path, flags: int) -> Any:
    """Return the content of C{settings.json}.

    @param flags: further flags of C{os.open}, in addition to those for non-blocking reading.
    @raise OSError: the file cannot be opened.
    @raise FileError: see L{read_json}.
    """
    opened = os.open(folder / "settings.json", os.O_RDONLY | os.O_NONBLOCK | flags)
    try:
        return read_json(Path(f"/proc/self/fd/{opened}"))
    finally:
        os.close(opened)


@contextmanager
def _open_folder(workspace: Path, inside: FolderLimit, *, make: bool) -> Iterator[Path | None]:
    """Open the C{.claude} folder by a descriptor, so that it cannot be replaced while it is used.

    The result is C{None} if the folder does not exist and C{make} is false.

    @raise OSError: the folder is a symbolic link (ELOOP, ENOTDIR), or not a folder.
    @raise ServiceError: the workspace is outside of the folder that must contain it.
    """
    base = open_without_magic_links(workspace, os.O_RDONLY | os.O_DIRECTORY)
    try:
        inside.check_resolved_folder(os.readlink(f"/proc/self/fd/{base}"))
        if make:
            with suppress(FileExistsError):  # the next step checks the entry
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


def _update_file(folder: Path, **wanted: Any) -> None:
    """Write the settings file if it changes; C{wanted} is that of L{merge_settings}."""
    path = folder / FILE
    if path.is_symlink():
        raise FileRefusedError(f"{FILE}: it is a symbolic link")
    there = os.path.lexists(path)
    before = read_json(path) if there else {}
    after = merge_settings(before, **wanted)
    if after == before:
        return
    try:
        text = json.dumps(after, indent=2, ensure_ascii=False, allow_nan=False)
        data = (text + "\n").encode()
    except ValueError:
        raise FileRefusedError(f"{FILE}: contains a value that cannot be written back") from None
    mode = path.stat().st_mode & 0o7777 if there else _NEW_MODE
    with replace_atomically(path) as temporary:
        temporary.write_bytes(data)
        temporary.chmod(mode)
