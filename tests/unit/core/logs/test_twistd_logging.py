"""Our log lines wherever C{twistd} was told to write them."""

from __future__ import annotations

import io
import signal
import sys
import syslog
from collections.abc import Callable
from pathlib import Path

from twisted.application.service import Application
from twisted.logger import ILogObserver, Logger
from twisted.python.components import Componentized
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError
from tservice.core.logs.redact import SecretRedactor
from tservice.core.logs.twistd_logging import LogOptions, LogService, parse_log_options


class TargetTests(SynchronousTestCase):
    def test_log_target_follows_the_twistd_options(self) -> None:
        here = Path.cwd()
        for options, want in [
            (None, LogOptions()),
            ({"nodaemon": True}, LogOptions()),
            ({"nodaemon": True, "logfile": "-"}, LogOptions()),
            ({"nodaemon": True, "logfile": "x"}, LogOptions(file=here / "x")),
            ({"nodaemon": False, "logfile": "/x"}, LogOptions(file=Path("/x"))),
            ({"nodaemon": False}, LogOptions(file=here / "twistd.log")),
            ({"syslog": True, "prefix": "p"}, LogOptions(syslog="p")),
            ({"logger": print, "logfile": "x"}, LogOptions(custom=True)),
        ]:
            self.assertEqual(want, parse_log_options(options), options)

    def test_daemon_without_stdout_needs_a_log_file(self) -> None:
        error = self.assertRaises(
            StartError, parse_log_options, {"logfile": "-", "nodaemon": False}
        )
        self.assertIn("cannot log to stdout", str(error))


class LogServiceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.calls: list[Callable[[], None]] = []
        self.redactor = SecretRedactor()
        self.application: Componentized = Application("t")
        before = signal.getsignal(signal.SIGUSR1)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

    def service(self, target: LogOptions, log_format: str = "text") -> LogService:
        config = Config(log_format=log_format)
        service = LogService(target, config, self.redactor, self.calls.append)
        self.addCleanup(service.close)
        service.install_observer(self.application)
        return service

    def log(self) -> Logger:
        return Logger(observer=self.application.getComponent(ILogObserver))

    def test_log_to_stdout_contains_no_secrets(self) -> None:
        out = io.StringIO()
        self.patch(sys, "stdout", out)
        self.redactor.register_secret("open sesame")
        self.service(LogOptions())
        self.log().info("{word}", word="open sesame")
        self.assertIn("[redacted]\n", out.getvalue())

    def test_log_file_is_reopened_on_a_signal(self) -> None:
        self.service(LogOptions(file=Path("t.log")), log_format="json").startService()
        self.log().info("one")
        Path("t.log").rename("t.log.1")
        signal.raise_signal(signal.SIGUSR1)
        self.log().info("two")
        (reopen,) = self.calls  # the signal handler does nothing but ask the reactor for it
        reopen()
        self.log().info("three")
        self.assertEqual(2, Path("t.log.1").read_text().count('"level": "info"'))
        self.assertIn('"message": "three"', Path("t.log").read_text())

    def test_unopenable_log_file_is_an_error(self) -> None:
        error = self.assertRaises(StartError, self.service, LogOptions(file=Path("/nowhere/t.log")))
        self.assertIn("/nowhere/t.log: No such file", str(error))

    def test_log_goes_to_syslog_in_single_lines(self) -> None:
        lines: list[str] = []
        self.patch(syslog, "openlog", lambda prefix: lines.append(prefix))
        self.patch(syslog, "syslog", lambda priority, line: lines.append(line))
        self.service(LogOptions(syslog="here"))
        self.log().warn("two\nlines")
        self.assertEqual("here", lines[0])
        self.assertRegex(lines[1], r"warn .*two\\nlines$")

    def test_custom_observer_of_the_operator_is_kept(self) -> None:
        self.service(LogOptions(custom=True))
        self.assertIsNone(self.application.getComponent(ILogObserver))
