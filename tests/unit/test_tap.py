"""The command line of C{twistd tservice}."""

from __future__ import annotations

import errno
import io
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from twisted.application.service import Service
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.config.model import Config
from tservice.core.disk.disk_errors import FULL, DiskFull
from tservice.core.kernel.errors import StartError
from tservice.core.logs.redact import SecretRedactor
from tservice.runtime.launch_context import LaunchContext
from tservice.store.database import Database
from tservice.store.errors import StoreError
from tservice.tap import Options
from tservice.tap.root import RootService


class OptionsTests(SynchronousTestCase):
    def parse(self, *words: str, **environ: str) -> Config:
        options = Options(environ, Path("/home/someone"))
        options.parseOptions(list(words))
        return options.loaded.config

    def refused(self, *words: str) -> str:
        return str(self.assertRaises(StartError, self.parse, *words))

    def test_options_set_values_and_lists(self) -> None:
        config = self.parse("--max-sessions=7", "--allowed-hosts", "a.org,b.org")
        self.assertEqual(7, config.max_sessions)
        self.assertEqual(("a.org", "b.org"), config.allowed_hosts)

    def test_listen_option_may_be_repeated_and_hold_commas(self) -> None:
        config = self.parse("--listen=unix:a,b", "--listen=tcp:1")
        self.assertEqual(("unix:a,b", "tcp:1"), config.listen)

    def test_flag_option_can_be_set_and_unset(self) -> None:
        self.assertTrue(self.parse("--multiuser").multiuser)
        self.assertTrue(self.parse(SERVICE_MULTIUSER="1").multiuser)
        self.assertFalse(self.parse("--no-multiuser", SERVICE_MULTIUSER="1").multiuser)
        self.assertIn("use one of them", self.refused("--multiuser", "--no-multiuser"))

    def test_option_mistakes_are_reported_in_one_line(self) -> None:
        for words in [["--bogus"], ["word"], ["--max-sessions"], ["--password=x"]]:
            self.assertEqual(1, len(self.refused(*words).splitlines()), words)

    def test_long_options_have_no_abbreviation(self) -> None:
        """C{--password} would be C{--password-file}, and its value a file that an error names."""
        for words in [
            ["--password", "hunter2"],
            ["--password=hunter2"],
            ["--listen", "tcp:1", "--pass=hunter2"],
            ["--gesture", "--password-fil", "hunter2"],
        ]:
            line = self.refused(*words)
            self.assertRegex(line, r"option --pass[a-z-]* not recognized")
            self.assertNotIn("hunter2", line)
        self.assertIn("--multiuse not", self.refused("--multiuse"))

    def test_option_value_may_look_like_an_option(self) -> None:
        self.assertEqual("--pass", self.parse("--username", "--pass", "--gesture").username)

    def test_password_comes_from_the_environment(self) -> None:
        self.assertEqual("x", self.parse(SERVICE_PASSWORD="x").password)


class StartImportTests(SynchronousTestCase):
    @pytest.mark.long
    def test_start_imports_nothing_that_an_idle_service_does_not_need(self) -> None:
        """Each of these takes a megabyte or more, and is imported where it is first used."""
        program = "import sys, tservice.tap.assembly\nprint(*sys.modules)"
        ended = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).resolve().parents[2],
        )
        loaded = {name.partition(".")[0] for name in ended.stdout.split()}
        self.assertIn("klein", loaded)
        needless = {
            "autobahn", "dulwich", "pyte", "segno", "tomlkit", "tree_sitter", "treq", "wcwidth",
            "websockets",
        }  # fmt: skip
        self.assertEqual(set(), needless & loaded)


class RootTests(SynchronousTestCase):
    """A start that comes to nothing says why, in one line."""

    def said(self, error: Exception) -> str:
        data = Path(self.mktemp()).absolute()
        config = Config(data_dir=data)
        program = LaunchContext(
            reactor=Clock(), config=config, environ={}, home=data, redactor=SecretRedactor()
        )

        def assemble(*given: object) -> None:
            raise error

        logs: Any = Service()
        root = RootService(program, logs, assemble)
        self.addCleanup(root.stopService)
        printed = io.StringIO()
        self.patch(sys, "__stderr__", printed)
        raised = self.assertRaises(StartError, root.startService)
        self.assertEqual(f"{raised}\n", printed.getvalue())
        return str(raised).replace(str(data), "DATA")

    def test_start_error_is_printed_in_one_line(self) -> None:
        self.assertEqual("tservice: no", self.said(StartError("no")))
        self.assertEqual([], self.flushLoggedErrors())

    def test_full_disk_at_the_start_is_reported_in_one_line(self) -> None:
        for error in (DiskFull(FULL), OSError(28, "No space left on device")):
            self.assertEqual(
                f"tservice: cannot start: {FULL}: fix this for DATA, then start again",
                self.said(error),
            )
            self.assertEqual(1, len(self.flushLoggedErrors(type(error))))

    def test_failing_database_at_the_start_is_reported_in_one_line(self) -> None:
        said = self.said(sqlite3.OperationalError("no such table: x"))
        want = "tservice: cannot start: database DATA/tservice.db: no such table: x"
        self.assertEqual(f"{want}; see the log for details", said)
        self.assertEqual(1, len(self.flushLoggedErrors(sqlite3.OperationalError)))

    def test_unreadable_row_at_the_start_is_reported(self) -> None:
        database = Database.open_in_memory()
        self.addCleanup(database.close)
        sql = "SELECT 'j1' AS id, '{' AS definition"
        error = self.assertRaises(
            StoreError,
            database.read_records,
            lambda row: json.loads(row["definition"]),
            sql,
            named="jobs.id",
        )
        want = "jobs: the row whose id is 'j1' cannot be read (JSONDecodeError)"
        self.assertEqual(
            f"tservice: cannot start: database DATA/tservice.db: {want}; see the log for details",
            self.said(error),
        )
        self.assertEqual(1, len(self.flushLoggedErrors(StoreError)))

    def test_file_instead_of_a_folder_is_named(self) -> None:
        error = FileExistsError(errno.EEXIST, "File exists", "/srv/ssh")
        want = "tservice: cannot start: /srv/ssh: File exists; see the log for details"
        self.assertEqual(want, self.said(error))
        self.assertEqual(1, len(self.flushLoggedErrors(FileExistsError)))

    def test_unexpected_error_text_is_not_printed(self) -> None:
        said = self.said(ValueError("hunter2"))
        self.assertEqual("tservice: cannot start: ValueError; see the log for details", said)
        self.assertEqual(1, len(self.flushLoggedErrors(ValueError)))
