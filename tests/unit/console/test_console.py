"""The commands of C{tservice} that need no service."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

from twisted.trial.unittest import SynchronousTestCase

from tservice.console.main import build_parser, run_command_line
from tservice.console.running import is_running
from tservice.console.terminal import CommandError, Terminal
from tservice.console.unit import format_unit
from tservice.console.up import draw_qr_code, format_banner
from tservice.console.update import InstallKind, find_install_kind, list_update_commands
from tservice.core.net.endpoints import ListenAddress
from tservice.core.net.own_address import find_phone_url
from tservice.core.process.folder_lock import FolderLock


class FakePrograms:
    """Records the programs that a command runs.

    @ivar answers: output by the beginning of a command line; a program without one succeeds.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answers: dict[str, tuple[int, str]] = {}

    def run(self, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Return the answer to a command line."""
        line = " ".join(argv)
        self.calls.append(line)
        found = [answer for start, answer in self.answers.items() if line.startswith(start)]
        status, text = found[0] if found else (0, "")
        return subprocess.CompletedProcess(
            list(argv), status, "" if status else text, text if status else ""
        )

    def replace(self, argv: Sequence[str]) -> int:
        """Return the exit status of a command line."""
        return self.run(argv).returncode


class ConsoleCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.home = Path(self.mktemp()).absolute()
        self.home.mkdir()
        self.programs = FakePrograms()
        self.out, self.error = io.StringIO(), io.StringIO()
        self.environ: Mapping[str, str] = {"PATH": "/opt/node/bin:/usr/bin", "USER": "ann"}

    def call(self, *words: str) -> int:
        """Run a command and return its exit status."""
        terminal = Terminal(
            environ=self.environ,
            home=self.home,
            out=self.out,
            error=self.error,
            run=self.programs.run,
            replace=self.programs.replace,
        )
        return run_command_line(words, terminal)


class ServiceUnitTests(ConsoleCase):
    @property
    def unit(self) -> Path:
        return self.home / ".config/systemd/user/tservice.service"

    def test_install_writes_the_callers_path_and_settings(self) -> None:
        self.assertEqual(
            0, self.call("service", "install", "--listen", "tcp:9000:interface=127.0.0.1")
        )
        text = self.unit.read_text()
        self.assertIn('Environment="PATH=/opt/node/bin:/usr/bin"', text)
        self.assertIn('"tservice" "--listen" "tcp:9000:interface=127.0.0.1"\n', text)
        self.assertIn("KillMode=process", text)
        self.assertEqual(
            ["daemon-reload", "enable tservice.service", "restart tservice.service"],
            [call.removeprefix("systemctl --user ") for call in self.programs.calls[1:4]],
        )

    def test_install_offers_to_linger_only_if_the_user_does_not(self) -> None:
        self.call("service", "install")
        self.assertIn("loginctl enable-linger", self.out.getvalue())
        self.out.truncate(0)
        self.programs.answers["loginctl"] = (0, "yes\n")
        self.call("service", "install")
        self.assertNotIn("enable-linger", self.out.getvalue())

    def test_invalid_setting_installs_nothing(self) -> None:
        self.assertEqual(2, self.call("service", "install", "--listen", "tcp:no"))
        self.assertFalse(self.unit.exists())

    def test_machine_without_systemd_is_told_the_other_way(self) -> None:
        self.programs.answers["systemctl"] = (1, "no bus")
        for action in ("install", "start", "status", "uninstall"):
            self.assertEqual(2, self.call("service", action))
        self.assertIn("tservice up", self.error.getvalue())

    def test_actions_need_an_installed_unit(self) -> None:
        for action in ("start", "stop", "restart", "status", "logs", "uninstall"):
            self.assertEqual(2, self.call("service", action))
        self.assertEqual(6, self.error.getvalue().count("tservice service install"))

    def test_uninstall_stops_the_service_and_removes_the_unit(self) -> None:
        self.call("service", "install")
        self.assertEqual(0, self.call("service", "uninstall"))
        self.assertFalse(self.unit.exists())
        self.assertIn("systemctl --user disable --now tservice.service", self.programs.calls)

    def test_failure_of_systemd_is_reported(self) -> None:
        self.call("service", "install")
        self.programs.answers["systemctl --user stop"] = (5, "Unit is masked.\n")
        self.assertEqual(2, self.call("service", "stop"))
        self.assertIn("stop tservice.service: Unit is masked.", self.error.getvalue())

    def test_words_with_a_meaning_in_units_are_quoted(self) -> None:
        text = format_unit("/a b/twistd", ["--cases-dir", 'x%h"$y\\'], "/bin")
        self.assertIn('ExecStart="/a b/twistd"', text)
        self.assertIn('"x%%h\\"$$y\\\\"', text)
        self.assertRaises(CommandError, format_unit, "twistd", ["a\nExecStart=b"], "/bin")


class UpdateTests(ConsoleCase):
    def test_way_of_installing_is_recognized(self) -> None:
        base, here = self.home / "base", self.home / "here"
        package = self.home / "lib/tservice"
        for folder in (base, here, package):
            folder.mkdir(parents=True)
        self.assertIs(InstallKind.SYSTEM, find_install_kind(base, base, package))
        self.assertIs(InstallKind.VENV, find_install_kind(here, base, package))
        (package.parent / "setup.py").touch()
        (package.parent / ".git").mkdir()
        self.assertIs(InstallKind.CHECKOUT, find_install_kind(here, base, package))
        (here / "pipx_metadata.json").touch()
        self.assertIs(InstallKind.PIPX, find_install_kind(here, base, package))
        (here / "uv-receipt.toml").touch()
        self.assertIs(InstallKind.UV_TOOL, find_install_kind(here, base, package))

    def test_each_way_has_its_own_commands(self) -> None:
        def commands(kind: InstallKind, source: str | None = None) -> list[str]:
            made = list_update_commands(kind, source, "/v/python", Path("/src"))
            return [" ".join(argv) for argv in made]

        self.assertEqual(["uv tool upgrade tservice"], commands(InstallKind.UV_TOOL))
        self.assertEqual(["uv tool install --force a.whl"], commands(InstallKind.UV_TOOL, "a.whl"))
        self.assertEqual(["pipx upgrade tservice"], commands(InstallKind.PIPX))
        self.assertEqual(["pipx install --force a.whl"], commands(InstallKind.PIPX, "a.whl"))
        self.assertEqual(
            ["/v/python -m pip install --upgrade tservice"], commands(InstallKind.VENV)
        )
        self.assertEqual(
            [
                "/v/python -m pip install --upgrade a.whl",
                "/v/python -m pip install --force-reinstall --no-deps a.whl",
            ],
            commands(InstallKind.VENV, "a.whl"),
        )
        self.assertEqual("git -C /src pull --ff-only", commands(InstallKind.CHECKOUT)[0])
        self.assertRaises(CommandError, commands, InstallKind.CHECKOUT, "a.whl")
        self.assertRaises(CommandError, commands, InstallKind.SYSTEM)

    def update(self, kind: InstallKind, *words: str) -> int:
        with patch("tservice.console.update.find_install_kind", return_value=kind):
            return self.call("update", *words)

    def test_running_unit_is_restarted_after_the_upgrade(self) -> None:
        self.call("service", "install")
        self.programs.calls.clear()
        self.assertEqual(0, self.update(InstallKind.PIPX))
        self.assertEqual("pipx upgrade tservice", self.programs.calls[0])
        self.assertEqual("systemctl --user restart tservice.service", self.programs.calls[-1])

    def test_failed_upgrade_restarts_nothing(self) -> None:
        self.call("service", "install")
        self.programs.calls.clear()
        self.programs.answers["pipx"] = (1, "no network")
        self.assertEqual(2, self.update(InstallKind.PIPX))
        self.assertEqual(["pipx upgrade tservice"], self.programs.calls)

    def test_check_tells_whether_there_is_a_newer_version(self) -> None:
        rows = [{"name": "tservice", "latest_version": "9.9.9"}, {"name": "attrs"}]
        self.programs.answers["uv pip list --outdated"] = (0, json.dumps(rows))
        self.assertEqual(1, self.update(InstallKind.UV_TOOL, "--check"))
        self.assertIn("9.9.9 is available", self.out.getvalue())
        self.programs.answers["uv pip list --outdated"] = (0, "[]")
        self.assertEqual(0, self.update(InstallKind.UV_TOOL, "--check"))
        self.programs.answers["uv pip list --outdated"] = (2, "no network\n")
        self.assertEqual(2, self.update(InstallKind.UV_TOOL, "--check"))

    def test_program_from_a_file_is_never_sought_on_an_index(self) -> None:
        """A stranger could publish a package of the same name there."""
        with patch("tservice.console.update.distribution") as found:
            found.return_value.read_text.return_value = '{"url": "file:///w.whl"}'
            for words in ((), ("--check",)):
                self.assertEqual(2, self.update(InstallKind.VENV, *words))
            self.assertEqual([], self.programs.calls)
            self.assertEqual(0, self.update(InstallKind.VENV, "new.whl"))
            found.return_value.read_text.return_value = None
            self.assertEqual(0, self.update(InstallKind.VENV))

    def test_check_of_a_checkout_counts_the_commits_behind(self) -> None:
        self.programs.answers["git"] = (0, "3\n")
        self.assertEqual(1, self.update(InstallKind.CHECKOUT, "--check"))
        self.assertIn("3 commits behind", self.out.getvalue())


class BackupTests(ConsoleCase):
    def test_folder_without_a_database_is_refused(self) -> None:
        self.assertEqual(2, self.call("backup", str(self.home / "x.tgz")))
        self.assertIn("--data-dir", self.error.getvalue())
        self.assertFalse((self.home / "x.tgz").exists())

    def test_file_that_is_no_backup_changes_nothing(self) -> None:
        data = self.home / ".tservice"
        data.mkdir()
        (data / "settings.json").write_text("{}")
        other = self.home / "other.tgz"
        with tarfile.open(other, "w:gz") as archive:
            archive.add(data / "settings.json", "settings.json")
        broken = self.home / "broken.tgz"
        broken.write_bytes(b"no archive")
        for file in (other, broken, self.home / "absent.tgz"):
            self.assertEqual(2, self.call("restore", str(file)))
        self.assertEqual(["settings.json"], [path.name for path in data.iterdir()])
        self.assertEqual(
            [".tservice", "broken.tgz", "other.tgz"],
            sorted(path.name for path in self.home.iterdir()),
        )

    def make_backup(self, data: Path) -> Path:
        """Return a backup of a data folder whose only setting is C{{"a": 1}}."""
        data.mkdir()
        with closing(sqlite3.connect(data / "tservice.db")) as database:
            database.execute("CREATE TABLE t (a)")
        (data / "settings.json").write_text('{"a": 1}')
        file = self.home / "copy.tgz"
        self.assertEqual(0, self.call("backup", str(file)))
        return file

    def test_restore_holds_the_lock_of_the_folder_while_it_writes(self) -> None:
        data = self.home / ".tservice"
        file = self.make_backup(data)
        seen: list[bool] = []

        def look() -> float:
            seen.append(is_running(data))
            return 5.0

        with patch("tservice.console.backup.get_system_seconds", look):
            self.assertEqual(0, self.call("restore", str(file)))
        self.assertEqual([True], seen)
        self.assertFalse(is_running(data))

    def test_restore_keeps_the_earlier_files_and_the_sockets(self) -> None:
        data = self.home / ".tservice"
        file = self.make_backup(data)
        (data / "settings.json").write_text('{"a": 2}')
        (data / "mux").mkdir()
        with patch("tservice.console.backup.get_system_seconds", lambda: 5.0):
            self.assertEqual(0, self.call("restore", str(file)))
        self.assertEqual('{"a": 1}', (data / "settings.json").read_text())
        self.assertEqual('{"a": 2}', (data / "before-restore-5/settings.json").read_text())
        self.assertEqual(
            ["before-restore-5", "lock", "mux", "settings.json", "tservice.db"],
            sorted(path.name for path in data.iterdir()),
        )
        self.assertEqual(0, self.call("backup", str(file)))
        with tarfile.open(file) as archive:
            names = sorted(archive.getnames())
        self.assertEqual(["settings.json", "tservice-backup.json", "tservice.db"], names)

    def test_restore_into_a_folder_in_use_changes_nothing(self) -> None:
        data = self.home / ".tservice"
        file = self.make_backup(data)
        (data / "settings.json").write_text('{"a": 2}')
        lock = FolderLock(data)
        lock.startService()
        self.addCleanup(lock.stopService)
        self.assertEqual(2, self.call("restore", str(file)))
        self.assertIn("stop it", self.error.getvalue())
        self.assertEqual('{"a": 2}', (data / "settings.json").read_text())

    def test_damaged_backup_changes_nothing(self) -> None:
        data = self.home / ".tservice"
        file = self.make_backup(data)
        (data / "settings.json").write_text('{"a": 2}')
        whole = file.read_bytes()
        for size in (len(whole) // 2, len(whole) - 8):
            file.write_bytes(whole[:size])
            self.assertEqual(2, self.call("restore", str(file)))
        self.assertEqual('{"a": 2}', (data / "settings.json").read_text())

    def test_archive_with_a_path_outside_is_refused(self) -> None:
        hostile = self.home / "hostile.tgz"
        manifest = self.home / "manifest"
        manifest.write_text(json.dumps({"program": "tservice"}))
        with tarfile.open(hostile, "w:gz") as archive:
            archive.add(manifest, "tservice-backup.json")
            archive.add(manifest, "../outside")
        self.assertEqual(2, self.call("restore", str(hostile)))
        self.assertEqual(
            ["hostile.tgz", "manifest"], sorted(path.name for path in self.home.iterdir())
        )


class BannerTests(SynchronousTestCase):
    def address(self, kind: str = "tcp", *, shared: bool) -> ListenAddress:
        return ListenAddress(text="", description="", kind=kind, shared=shared)

    def test_url_that_others_can_use_is_for_the_phone(self) -> None:
        with patch("tservice.core.net.own_address.find_own_address", return_value="192.0.2.7"):
            shared = [self.address("unix", shared=True), self.address(shared=True)]
            urls = ["unix:/run/s", "http://127.0.0.1:80/base/"]
            self.assertEqual("http://192.0.2.7:80/base/", find_phone_url(urls, shared))
        named = find_phone_url(["https://[2001:db8::1]:8443/"], [self.address(shared=True)])
        self.assertEqual("https://[2001:db8::1]:8443/", named)
        self.assertIsNone(find_phone_url(["http://127.0.0.1:80/"], [self.address(shared=False)]))

    def test_code_is_drawn_as_half_blocks_of_one_width(self) -> None:
        rows = draw_qr_code("http://192.0.2.7:8770/")
        self.assertEqual({len(rows[0])}, {len(row) for row in rows})
        self.assertEqual(set("█▀▄ "), set("".join(rows)))
        self.assertIn(rows[3], format_banner([], Path("/d"), "http://192.0.2.7:8770/"))


class CommandLineTests(ConsoleCase):
    def test_unknown_option_of_a_command_without_settings_is_refused(self) -> None:
        with self.assertRaises(SystemExit) as caught, patch("sys.stderr", self.error):
            self.call("version", "--listen", "tcp:1")
        self.assertEqual(2, caught.exception.code)
        self.assertEqual(1, self.error.getvalue().count("\n"))

    def test_version_says_how_it_was_installed(self) -> None:
        self.assertEqual(0, self.call("version"))
        self.assertRegex(self.out.getvalue(), r"^tservice \d+\.\d+\S* \(.+\)\n$")

    def test_completions_hold_every_command_and_setting(self) -> None:
        build_parser()
        for shell in ("bash", "zsh", "fish"):
            self.out.truncate(0)
            self.assertEqual(0, self.call("completion", shell))
            for word in ("up", "uninstall", "backup", "--listen", "--follow", "--check"):
                self.assertIn(word, self.out.getvalue(), shell)
