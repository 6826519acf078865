"""Log output: one line per event, as text or as JSON, without secrets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from twisted.logger import ILogObserver, LogEvent, LogLevel, formatEvent
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.disk.disk_errors import DiskFull
from tservice.core.logs.redact import SecretRedactor

LONGEST = 16_000
"""Limit in characters on one message and on one traceback.  Longer texts are cut, and the number of
missing characters is noted.
"""


@implementer(ILogObserver)
class LineObserver:
    """Log observer that writes events of at least one level; events without a level count as
    C{info}.

    Lines that the log's disk does not accept are counted, and the count is logged once writing
    works again.

    @param out: the file to write to, with C{write} and C{flush}.
    @param log_format: C{text} or C{json}.
    @param level: the lowest level: C{debug}, C{info}, C{warn}, C{error} or C{critical}.
    """

    def __init__(self, out: Any, log_format: str, level: str, redactor: SecretRedactor) -> None:
        self._out = out
        self._form = format_json_line if log_format == "json" else format_text_line
        self._least = LogLevel.lookupByName(level)
        self._redactor = redactor
        self._lost = 0

    def __call__(self, event: LogEvent) -> None:
        if event.get("log_level", LogLevel.info) < self._least or is_disk_full_event(event):
            return
        lines = self._form(event, self._redactor)
        if self._lost:
            lines = self._form(_format_lost_count(event, self._lost), self._redactor) + lines
        try:
            self._out.write(lines)
            self._out.flush()
        except OSError:
            # The error cannot be reported elsewhere: the log's disk is full.
            self._lost += 1
        else:
            self._lost = 0


@implementer(ILogObserver)
class FaultCount:
    """Counter of events that are logged as an error or worse.

    @ivar count: the number since the observer was added.
    """

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, event: LogEvent) -> None:
        if event.get("log_level", LogLevel.info) < LogLevel.error or is_disk_full_event(event):
            return
        self.count += 1


class LogFile:
    """Text file that can be reopened under its name, for logrotate."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = self._open_stream()

    def write(self, text: str) -> int:
        """Append C{text}; it reaches the kernel once L{flush} returns."""
        return self._file.write(text)

    def flush(self) -> None:
        """Pass buffered text to the kernel."""
        self._file.flush()

    def reopen(self) -> None:
        """Close the file, and continue in a new file of the configured name."""
        fresh = self._open_stream()
        self._file.close()
        self._file = fresh

    def close(self) -> None:
        """Close the file; later writes fail."""
        self._file.close()

    def _open_stream(self) -> IO[str]:
        # Mode 0640: only the owner and the administrators' group may read it.
        descriptor = os.open(
            self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640
        )
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def is_disk_full_event(event: LogEvent) -> bool:
    """Return whether the event reports a failed write on a full disk, which the store logs itself.

    The store logs the disk problem once; logging each failed write would flood the log.
    """
    failure = event.get("log_failure")
    return isinstance(failure, Failure) and failure.check(DiskFull) is not None


def _format_lost_count(event: LogEvent, count: int) -> LogEvent:
    return {
        "log_time": event["log_time"],
        "log_level": LogLevel.error,
        "log_namespace": __name__,
        "log_format": "{count} lines of this log may be lost: its disk did not accept them",
        "count": count,
    }


def format_text_line(event: LogEvent, redactor: SecretRedactor) -> str:
    """Return the event as C{<time> <level> <where> <message>}, and a traceback on indented
    lines.
    """
    message, traceback = _format_message_and_traceback(event, redactor)
    origin = f"{_format_time(event)} {_format_level(event):<8} {_format_source(event)}"
    head = f"{origin}: {_escape_control_characters(message)}\n"
    return head + "".join(
        f"    {_escape_control_characters(line)}\n" for line in traceback.splitlines()
    )


def format_json_line(event: LogEvent, redactor: SecretRedactor) -> str:
    """Return the event as a JSON object with C{time}, C{level}, C{where} and C{message}.

    An exception adds C{traceback}.  C{event} is the event's name for programs that read the log, if
    the caller gave one.
    """
    message, traceback = _format_message_and_traceback(event, redactor)
    line = {
        "time": _format_time(event),
        "level": _format_level(event),
        "where": _format_source(event),
        "message": message,
    }
    if isinstance(event.get("event"), str):
        line["event"] = redactor.redact_text(event["event"])
    if traceback:
        line["traceback"] = traceback
    return json.dumps(line) + "\n"


def _format_message_and_traceback(event: LogEvent, redactor: SecretRedactor) -> tuple[str, str]:
    message = formatEvent(event)
    failure = event.get("log_failure")
    traceback = failure.getTraceback() if isinstance(failure, Failure) else ""
    if traceback and not message:
        message = traceback.strip().splitlines()[-1]
    return _truncate_text(redactor.redact_text(message)), _truncate_text(
        redactor.redact_text(traceback)
    )


def _truncate_text(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}... ({len(text) - LONGEST} more characters)"


def _escape_control_characters(text: str) -> str:
    """Escape control characters, so that text from outside cannot forge a log line."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def _format_time(event: Mapping[str, Any]) -> str:
    moment = datetime.fromtimestamp(event["log_time"], UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _format_level(event: Mapping[str, Any]) -> str:
    level = event.get("log_level")
    return str(level.name) if level is not None else "info"


def _format_source(event: Mapping[str, Any]) -> str:
    return str(event.get("log_namespace") or event.get("log_system") or "-")
