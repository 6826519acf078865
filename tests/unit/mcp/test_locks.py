"""Locks of the files that a sync writes: one writer at a time, and nothing that is left."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

from tests.unit.mcp.harness import RUN, SyncCase
from tservice.mcp import locked_files
from tservice.mcp.locked_files import FileLocked, find_lock_folder, hold_lock
from tservice.mcp.survey import SyncTarget, remove_old_locks, write_target


class ConfigFileLockTests(SyncCase):
    def test_synchronisation_leaves_only_configuration_files_and_backups(self) -> None:
        """Neither beside a configuration file, nor in the home folder, nor among the locks."""
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini, two=RUN)
        self.installed |= {"codex", "opencode", "copilot"}
        self.sync()
        left = {str(path.relative_to(self.home)) for path in self.home.rglob("*") if path.is_file()}
        self.assertEqual(
            {".claude.json", ".claude.json.service-bak", ".gemini/settings.json",
             ".gemini/settings.json.service-bak", ".codex/config.toml",
             ".config/opencode/opencode.json"},
            left - {".copilot/mcp-config.json"},
        )  # fmt: skip
        self.assertEqual([], [*self.locks.iterdir()])

    def test_lock_creates_no_folder_for_an_unwritten_file(self) -> None:
        codex = self.home / ".codex" / "config.toml"
        with hold_lock(codex, self.locks):
            self.assertFalse(codex.parent.exists())

    def test_lock_files_of_earlier_versions_are_removed(self) -> None:
        """But not what somebody else put there, and not one that is held."""
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini, one=RUN)
        old = self.put(self.home / ".claude.json.service-lock", "")
        other = self.put(self.gemini.with_name("settings.json.service-lock"), "mine")
        remove_old_locks(self.look().targets)
        self.assertEqual((False, "mine"), (old.exists(), other.read_text()))
        other.unlink()
        other.symlink_to(self.put(self.home / "empty", ""))
        old.touch()
        with old.open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            remove_old_locks(self.look().targets)
        self.assertEqual((True, True), (old.exists(), other.is_symlink()))

    def test_lock_belongs_to_the_file_and_not_to_its_name(self) -> None:
        self.servers(self.gemini)
        other = self.home / "link.json"
        other.symlink_to(self.gemini)
        with hold_lock(self.gemini, self.locks):
            with self.assertRaises(FileLocked), hold_lock(other, self.locks):
                pass
            with hold_lock(self.claude, self.locks):
                pass

    def test_lock_whose_file_was_removed_is_taken_again(self) -> None:
        self.servers(self.gemini)
        take = locked_files._acquire_lock

        def after_another(descriptor: int) -> None:
            [path] = self.locks.iterdir()
            path.unlink()
            take(descriptor)

        with (
            patch.object(locked_files, "_acquire_lock", after_another),
            self.assertRaises(FileLocked),
            hold_lock(self.gemini, self.locks),
        ):
            pass
        with hold_lock(self.gemini, self.locks):
            pass

    def test_lock_folder_is_private(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        self.locks.mkdir()
        self.locks.chmod(0o755)
        self.assertIn("accessible to another user", str(self.sync()["gemini"].error))
        self.locks.rmdir()
        self.locks.symlink_to(self.home)
        self.assertIn("accessible to another user", str(self.sync()["gemini"].error))
        self.assertEqual([], self.names(self.gemini))

    def test_lock_folder_is_shared_by_all_services_of_a_user(self) -> None:
        """The same for all services of a user, whoever started them."""
        name = f"tservice-{os.getuid()}-locks"
        self.assertEqual(self.home / name, find_lock_folder({"XDG_RUNTIME_DIR": str(self.home)}))
        own = Path(f"/run/user/{os.getuid()}")
        usual = (own if own.is_dir() else Path("/tmp")) / name
        for other in ("", self.home.name, "/nowhere", str(self.put(self.home / "file", ""))):
            self.assertEqual(usual, find_lock_folder({"XDG_RUNTIME_DIR": other}), other)

    def test_one_writer_runs_at_a_time(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        found = self.look()
        [target] = [target for target in found.targets if target.location.id == "gemini"]
        before = self.gemini.read_bytes()
        with hold_lock(self.gemini, self.locks):
            self.assertRaises(FileLocked, write_target, target, found.offer.servers, self.locks)
        self.assertEqual(before, self.gemini.read_bytes())
        self.assertEqual(("one",), write_target(target, found.offer.servers, self.locks).added)

    def test_concurrent_writers_of_one_home_lose_nothing(self) -> None:
        """Four services, each with servers that only it knows of, and a file that all write."""
        self.servers(self.gemini)
        others = []
        for number in range(4):
            self.environ = {"CLAUDE_CONFIG_DIR": str(self.home / str(number))}
            own = {f"{number}-{count}": RUN for count in range(5)}
            self.servers(self.home / str(number) / ".claude.json", **own)
            found = self.look()
            [target] = [target for target in found.targets if target.location.id == "gemini"]
            others.append((target, found.offer.servers))

        def insist(target: SyncTarget, offer: Any) -> None:
            while True:
                try:
                    write_target(target, offer, self.locks)
                except FileLocked:
                    continue
                return

        threads = [Thread(target=insist, args=other) for other in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            self.assertFalse(thread.is_alive())
        self.assertEqual(20, len(self.names(self.gemini)))
