"""Reading of files with checks in the location of their session or case."""

from __future__ import annotations

import errno
import os
import stat
from functools import partial

from attrs import frozen

from tservice.checks.repository_file.file_model import (
    FILE_BYTES,
    FILE_NAME,
    CheckFolder,
    InvalidCheckFile,
)
from tservice.core.disk.kernel_paths import open_without_magic_links
from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import FolderLimit, WorkspaceBounds
from tservice.core.process.child import ChildCommand, ChildRunner, Sink
from tservice.core.workers.thread_runners import RunInLocation
from tservice.mux.preamble import ShellPreambleFilter
from tservice.mux.remote.shell_quoting import MARK, join_shell_commands, quote_words

_SHELL_SECONDS = 30.0
"""Time limit of reading in a location that is reached by a shell."""
_NOT_PLAIN, _MISSING = 8, 9
"""Exit statuses of L{_READ}."""
_READ = """
cd -- "$1" || exit 3
if [ -h "$2" ]; then exit 8; fi
[ -e "$2" ] || exit 9
[ -f "$2" ] || exit 8
exec head -c "$3" "./$2"
"""
"""Shell text that prints a file.  Arguments: the folder, the name, and the maximum of bytes."""


@frozen(kw_only=True)
class CheckFileReader:
    """Reader of files with checks, with the rights of the folder's user."""

    locations: LocationRegistry
    bounds: WorkspaceBounds
    in_location: RunInLocation
    children: ChildRunner

    async def read_file(self, folder: CheckFolder) -> bytes | None:
        """Return the content of the folder's file; C{None} if there is none.

        @raise InvalidCheckFile: it is too large, or no plain file.
        @raise ServiceError: 422: the folder cannot be read.
        """
        location_id = folder.location_id
        self.bounds.check_os_user(folder.owner, location_id)
        await self.locations.refresh_if_reachable(location_id)
        place = self.locations.find_earlier_location(location_id)
        if not location_id.is_on_this_machine:
            return await self._read_in_shell(place, folder.path)
        limit = self.bounds.get_folder_limit(folder.owner, location_id)
        read = partial(read_local_file, folder.path, limit)
        try:
            return await self.in_location(place, read, folder.path, folder.owner)
        except OSError as error:
            raise make_failure_error(
                f"{FILE_NAME} cannot be read: {error.strerror or error}"
            ) from None

    async def _read_in_shell(self, place: Location, folder: str) -> bytes | None:
        words = (_READ, "sh", place.path_inside(folder), FILE_NAME, str(FILE_BYTES + 1))
        program = quote_words(b"sh", b"-c", *map(os.fsencode, words))
        preamble, pieces = ShellPreambleFilter(MARK), list[bytes]()
        try:
            if place.find_shell is None:
                raise OSError("no commands can be run there")
            shell = place.find_shell()
            command = ChildCommand(
                argv=shell.argv, env=shell.env, seconds=_SHELL_SECONDS,
                stdin=join_shell_commands(b"exec " + program),
            )  # fmt: skip
            done = await self.children.run(command, _make_sink(preamble, pieces))
        except OSError as error:
            raise make_failure_error(f"{place.title}: {error.strerror or error}") from None
        if not preamble.has_begun or done.status not in (0, _NOT_PLAIN, _MISSING):
            raise make_failure_error(f"{FILE_NAME} cannot be read in {place.title}")
        if done.status == _NOT_PLAIN:
            raise InvalidCheckFile("it is no plain file")
        return None if done.status == _MISSING else check_size(b"".join(pieces))


def _make_sink(preamble: ShellPreambleFilter, pieces: list[bytes]) -> Sink:
    def keep(data: bytes) -> bool:
        pieces.append(preamble.strip_output(data))
        # One byte more than permitted is printed at most, after what a login shell says.
        return sum(map(len, pieces)) <= FILE_BYTES + 1

    return keep


def read_local_file(folder: str, limit: FolderLimit) -> bytes | None:
    """Return the content of the file in a folder of this machine.  Blocks.

    The file is no symbolic link, so that it cannot lead out of the workspace.

    @raise InvalidCheckFile: it is too large, or no plain file.
    @raise ServiceError: the folder is outside of C{limit}.
    @raise OSError: the folder or the file cannot be read.
    """
    top = open_without_magic_links(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        limit.check_resolved_folder(os.readlink(f"/proc/self/fd/{top}"))
        # A device is not opened, because that alone may have an effect.
        _check_kind(os.stat(FILE_NAME, dir_fd=top, follow_symlinks=False))
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(FILE_NAME, flags, dir_fd=top)
    except FileNotFoundError as error:
        if error.filename != FILE_NAME:
            raise
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and error.filename == FILE_NAME:
            raise InvalidCheckFile("it is no plain file") from None
        raise
    finally:
        os.close(top)
    with open(file, "rb") as opened:
        _check_kind(os.fstat(file))
        return check_size(opened.read(FILE_BYTES + 1))


def check_size(data: bytes) -> bytes:
    """Return C{data}, the first bytes of a file, if it is not larger than permitted.

    @raise InvalidCheckFile: it is.
    """
    if len(data) > FILE_BYTES:
        raise InvalidCheckFile(f"it is larger than {FILE_BYTES // 1024} KB")
    return data


def _check_kind(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InvalidCheckFile("it is no plain file")
