"""Log output under C{twistd}, for every log destination of its options."""

from __future__ import annotations

import signal
import sys
import syslog
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.application.service import Service
from twisted.logger import ILogObserver
from twisted.python.components import Componentized

from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError
from tservice.core.logs.lines import LineObserver, LogFile
from tservice.core.logs.redact import SecretRedactor

DEFAULT_NAME = "twistd.log"
"""Log file name that C{twistd} uses for a daemon without C{--logfile}."""


@frozen(kw_only=True)
class LogOptions:
    """Logging options of C{twistd}.

    @ivar file: the log file.  C{None} for stdout.
    @ivar syslog: the prefix of syslog lines.  C{None} if syslog is not requested.
    @ivar custom: an observer that the operator configured, which is used unchanged.
    """

    file: Path | None = None
    syslog: str | None = None
    custom: bool = False


def parse_log_options(options: Mapping[str, Any] | None) -> LogOptions:
    """Read the logging options of C{twistd}, which precede C{tservice} on the command line.

    @raise StartError: a daemon should log to stdout, which a daemon does not have.
    """
    if options is None:
        return LogOptions()
    name, daemon = options.get("logfile"), not options.get("nodaemon")
    if options.get("logger"):
        return LogOptions(custom=True)
    if options.get("syslog"):
        return LogOptions(syslog=str(options.get("prefix") or "tservice"))
    if name == "-" and daemon:
        raise StartError("a daemon cannot log to stdout: add --nodaemon, or name a --logfile")
    if name == "-" or (not name and not daemon):
        return LogOptions()
    return LogOptions(file=Path(name or DEFAULT_NAME).absolute())


class SyslogLines:
    """Output that writes each line to the system log."""

    def __init__(self, prefix: str) -> None:
        syslog.openlog(prefix)

    def write(self, text: str) -> None:
        """Log C{text}, line by line."""
        for line in text.splitlines():
            syslog.syslog(syslog.LOG_INFO, line)

    def flush(self) -> None:
        """Do nothing, since nothing is buffered."""


class LogService(Service):
    """Installs the log observer in C{twistd}, and reopens the log file on SIGUSR1."""

    def __init__(
        self,
        target: LogOptions,
        config: Config,
        redactor: SecretRedactor,
        call_from_thread: Callable[[Callable[[], None]], object],
    ) -> None:
        self._target = target
        self._config = config
        self._redactor = redactor
        self._call_from_thread = call_from_thread
        self._file: LogFile | None = None

    def install_observer(self, application: Componentized) -> None:
        """Make C{application} log through this service; C{twistd} asks C{application} for an
        observer.

        @raise StartError: the log file cannot be opened.
        """
        if not self._target.custom:
            application.setComponent(ILogObserver, self._make_observer())

    def close(self) -> None:
        """Close the log file.

        The daemon does not call this, because C{twistd} still logs its shutdown after all services.
        """
        if self._file is not None:
            self._file.close()

    def startService(self) -> None:
        if self._file is not None:
            signal.signal(signal.SIGUSR1, self._handle_reopen_signal)
        super().startService()

    def _make_observer(self) -> ILogObserver:
        config = self._config
        out: Any = sys.stdout
        if self._target.syslog is not None:
            out = SyslogLines(self._target.syslog)
        elif self._target.file is not None:
            out = self._file = _open_log_file(self._target.file)
        return LineObserver(out, config.log_format, config.log_level, self._redactor)

    def _handle_reopen_signal(self, number: int, frame: object) -> None:
        if self._file is not None:
            self._call_from_thread(self._file.reopen)


def _open_log_file(path: Path) -> LogFile:
    try:
        return LogFile(path)
    except OSError as error:
        raise StartError(f"{path}: {error.strerror}") from None
