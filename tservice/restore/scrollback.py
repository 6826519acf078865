"""Scrollback of a session, which is saved to disk and shown after a restart (protocol-restore)."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from attrs import frozen

from tservice.core.disk.files import FileError, write_private_file
from tservice.mux.interface import PaneCapture
from tservice.terminal.frames.ansi import plain_text
from tservice.terminal.frames.sgr import RESET, make_self_contained
from tservice.terminal.frames.wrapped_lines import (
    get_screen_rows,
    join_wrapped,
    self_contained_lines,
    self_contained_main_lines,
)

LINES = 5_000
"""Maximum number of saved lines of a session, and of rows that are read from its pane."""

BYTES = 2 * 1024 * 1024
"""Maximum saved bytes of a session before compression.

The oldest lines are dropped first.
"""

LEVEL = 3
"""Compression level.  Higher levels save little on terminal text."""

_SUFFIX = ".gz"
_SESSION_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_NEW_ROW = b"\r\n"
_DIM = b"\x1b[2m"
_HOME = b"\x1b[H"
_RULE = "─"
_WIDEST = 100


def serialize_rows(capture: PaneCapture) -> bytes:
    """Return the last L{LINES} lines of a terminal with their colours, at most L{BYTES}.

    If a full-screen program is running, its screen follows the main screen.
    """
    if capture.alternate_screen:
        shown, wrapped = get_screen_rows(capture)
        screen = join_wrapped(make_self_contained(shown), wrapped)
        rows = [*_trim_empty_rows(self_contained_main_lines(capture)), *_trim_empty_rows(screen)]
    else:
        rows = _trim_empty_rows(self_contained_lines(capture))
    return _NEW_ROW.join(_newest_rows(rows[-LINES:]))


def make_preface(rows: bytes, saved: datetime, size: tuple[int, int], *, clear: bool) -> bytes:
    """Return the output to show before that of a restarted session.

    It consists of C{rows} and a line that announces the restart.

    @param saved: time at which the rows were on the screen, in the time zone for display.
    @param size: columns and rows of the terminal.
    @param clear: true to move all rows into the history and leave an empty screen.  Otherwise an
        old dialog could be taken for one of the new program.
    """
    cols, height = size
    told = _restart_notice(saved, cols).encode()
    text = b"".join((rows, _NEW_ROW, RESET, _DIM, told, RESET))
    # This number of new rows scrolls the whole screen out.
    return text + (_NEW_ROW * height + _HOME if clear else _NEW_ROW)


@frozen
class SavedScrollback:
    """Saved scrollback of a session.

    @ivar saved: time of saving, Unix seconds.
    """

    rows: bytes
    saved: float


class ScrollbackFolder:
    """Folder of mode 0700 with one compressed file of mode 0600 for each session.

    Every method blocks on the disk and must be called in a thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write_scrollback(self, session_id: str, rows: bytes) -> None:
        """Replace the saved scrollback of a session.

        @raise OSError, FileError: the file cannot be written; the previous one is unchanged.
        """
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private_file(self._scrollback_path(session_id), gzip.compress(rows, LEVEL, mtime=0))

    def read_scrollback(self, session_id: str) -> SavedScrollback | None:
        """Return the saved scrollback of a session; C{None} if there is none.

        @raise FileError: the file cannot be read.
        """
        path = self._scrollback_path(session_id)
        try:
            with path.open("rb") as file:
                packed, saved = file.read(BYTES + 65_536), path.stat().st_mtime
            # Bounded, because a manipulated file may claim any size.
            rows = zlib.decompressobj(wbits=31).decompress(packed, BYTES)
        except FileNotFoundError:
            return None
        except (OSError, zlib.error) as error:
            raise FileError(f"{path.name}: {error}") from error
        return SavedScrollback(rows, saved)

    def has_scrollback(self, session_id: str) -> bool:
        """Return true if the session has a saved scrollback."""
        return self._scrollback_path(session_id).is_file()

    def delete_scrollback(self, session_id: str) -> None:
        """Delete the saved scrollback of a session, if there is one."""
        self._scrollback_path(session_id).unlink(missing_ok=True)

    def delete_others(self, session_ids: Iterable[str]) -> None:
        """Delete all saved scrollbacks except those of C{session_ids}."""
        if not self._path.is_dir():
            return
        wanted = {self._scrollback_path(each).name for each in session_ids}
        for entry in self._path.iterdir():
            if entry.name not in wanted:
                entry.unlink(missing_ok=True)

    def _scrollback_path(self, session_id: str) -> Path:
        if not _SESSION_ID.fullmatch(session_id):
            raise ValueError(f"not a session id: {session_id!r}")
        return self._path / (session_id + _SUFFIX)


def _trim_empty_rows(rows: Iterable[bytes]) -> list[bytes]:
    """Return the rows without the empty rows at their end."""
    found = list(rows)
    while found and not plain_text(found[-1]):
        found.pop()
    return found


def _newest_rows(rows: list[bytes]) -> list[bytes]:
    size = 0
    for index in range(len(rows) - 1, -1, -1):
        size += len(rows[index]) + len(_NEW_ROW)
        if size > BYTES:
            return rows[index + 1 :]
    return rows


def _restart_notice(saved: datetime, cols: int) -> str:
    when = f"{saved:%Y-%m-%d %H:%M}"
    text = f"{_RULE * 2} the machine restarted; above is what was here until {when} "
    return text[:cols].ljust(min(cols, _WIDEST), _RULE)
