"""Export of audit entries to a file or to syslog, line by line.

The copy stays intact if an intruder changes the audit log itself.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twisted.logger import Logger

from tservice.core.kernel.errors import StartError

SYSLOG = "syslog"
_SOCKET = "/dev/log"
_PRIORITY = 10 * 8 + 6
"""Syslog priority authpriv.info (RFC 5424, 6.2.1)."""

Write = Callable[[bytes], None]


class AuditExport:
    """Writes entries as lines of JSON.

    A target that fails is reported once, until a write succeeds again.
    """

    _log = Logger()

    def __init__(self, write: Write) -> None:
        self._write, self._is_failing = write, False

    def write_entry(self, row: Mapping[str, Any]) -> None:
        """Write one entry to the export target.

        @param row: the entry's column values by name.
        """
        line = json.dumps({**row, "detail": json.loads(row["detail"])})
        try:
            self._write(line.encode())
        except OSError as error:
            if not self._is_failing:
                self._log.error("the audit log cannot be exported: {error}", error=str(error))
            self._is_failing = True
        else:
            self._is_failing = False


def open_export(target: str | None) -> AuditExport | None:
    """Return the export that the setting C{audit-export} requests; C{None} if it is unset.

    @param target: the value of the setting: C{syslog} or the path of a file.
    @raise StartError: the file cannot be written.
    """
    if target is None:
        return None
    if target == SYSLOG:
        return AuditExport(_send_to_syslog)
    path = Path(target)
    try:
        append_private_line(path, b"")
    except OSError as error:
        raise StartError(f"audit-export: {path}: {error.strerror}") from None
    return AuditExport(lambda line: append_private_line(path, line + b"\n"))


def append_private_line(path: Path, line: bytes) -> None:
    """Append a line to a file that only its owner may read.

    The file is opened for each line, so that logrotate can rename it.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "ab") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "must be a regular file")
        file.write(line)


def _send_to_syslog(line: bytes) -> None:
    # Not waiting: a syslog daemon that hangs must not hold up the service.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
        sender.connect(_SOCKET)
        sender.send(b"<%d>tservice[%d]: audit %b" % (_PRIORITY, os.getpid(), line))
