"""Tests for L{tservice.tap.accountfolders}: folders of before, and starts that are cut off."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.git.random_repositories import run_git
from tests.unit.tap.oldfolders import SESSION, OldService, program_in
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.core.kernel.errors import StartError
from tservice.store.database import Database
from tservice.suggestions.model import intent_key
from tservice.tap.accountfolders import move_account_folders, path_columns

EFFECTS = ("rename", "replace", "symlink", "unlink", "mkdir", "fsync")
"""Functions of C{os} by which the start changes the disk."""


class Killed(BaseException):
    """The process ended here."""


class MoveCase(SynchronousTestCase):
    def setUp(self) -> None:
        made = tempfile.mkdtemp(prefix="tsmoves")
        self.addCleanup(shutil.rmtree, made)
        self.folder = Path(made).resolve() / "service"
        self.old = OldService(self.folder)
        self.cases = self.old.cases

    def open(self) -> Database:
        database = Database.open_file(self.old.path, clock=Clock())
        self.addCleanup(database.close)
        return database

    def start(self) -> Database:
        """Begin as the service does."""
        database = self.open()
        move_account_folders(self.old.program, database)
        self.assertEqual([], database.query_rows("SELECT * FROM account_moves"))
        return database

    def own(self, database: Database, name: str, table: str = "accounts") -> Path:
        """The folder that is the account's now."""
        row = database.query_first_row(f"SELECT id FROM {table} WHERE username = ?", (name,))
        assert row is not None
        return self.cases / ".accounts" / str(row["id"])

    def paths(self, database: Database) -> list[str]:
        found = []
        for table, column in path_columns(database):
            sql = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"
            found += [str(row[0]) for row in database.query_rows(sql)]
        for sql in ("SELECT definition FROM cron_jobs", "SELECT * FROM intents",
                    "SELECT * FROM collected_since"):  # fmt: skip
            found += [json.dumps([*row]) for row in database.query_rows(sql)]
        return sorted(found)


class UpgradeTests(MoveCase):
    def test_folder_of_an_account_moves_to_its_id(self) -> None:
        self.old.fill()
        database = self.start()
        bob, other = self.own(database, "bob"), self.own(database, "bob-x")
        self.assertEqual(["shop", "shop-fix"], sorted(os.listdir(bob)))
        self.assertEqual(["shop"], os.listdir(other))
        self.assertFalse(bob.is_symlink() or self.own(database, "ann").exists())
        self.assertEqual(f".accounts/{bob.name}", os.readlink(self.cases / "bob"))
        self.assertFalse(os.path.lexists(self.cases / "ann"))
        found = {
            row["id"]: row["working_dir"] for row in database.query_rows("SELECT * FROM sessions")
        }
        self.assertEqual((f"{bob}/shop", f"{other}/shop"), (found[SESSION], found["s2"]))
        (row,) = database.query_rows("SELECT * FROM cases")
        self.assertEqual((f"{bob}/shop-fix", f"{bob}/shop"), (row["path"], row["repository"]))
        (row,) = database.query_rows("SELECT path FROM case_trash")
        self.assertEqual(f"{bob}/.trash/old-1", row["path"])
        (row,) = database.query_rows("SELECT definition FROM cron_jobs")
        self.assertEqual(f"{bob}/shop", json.loads(row["definition"])["working_dir"])
        (row,) = database.query_rows("SELECT key, working_dir FROM intents")
        key = intent_key("bob", f"{bob}/shop")
        self.assertEqual((key, f"{bob}/shop"), tuple(row))
        (row,) = database.query_rows("SELECT subject FROM collected_since")
        self.assertEqual(key, row["subject"])
        settings = json.loads((self.folder / "data" / "settings.json").read_text())
        self.assertEqual(
            {"defaultWorkingDir": f"{bob}/shop", "historyLimit": 2000}, settings
        )  # fmt: skip

    def test_folder_of_a_removed_account_with_sessions_moves_too(self) -> None:
        self.old.fill()
        database = self.start()
        gone = self.own(database, "gone", "former_accounts")
        self.assertEqual(["shop"], os.listdir(gone))
        (row,) = database.query_rows("SELECT working_dir FROM sessions WHERE id = 's3'")
        self.assertEqual(f"{gone}/shop", row["working_dir"])

    def test_worktrees_know_each_other_without_the_link(self) -> None:
        self.old.fill()
        bob = self.own(self.start(), "bob")
        (self.cases / "bob").unlink()
        for folder in ("shop", "shop-fix"):
            listed = run_git(bob / folder, "worktree", "list", "--porcelain").decode()
            self.assertEqual(
                [f"worktree {bob}/shop", f"worktree {bob}/shop-fix"],
                [line for line in listed.splitlines() if line.startswith("worktree ")],
            )
            self.assertEqual(b"", run_git(bob / folder, "worktree", "repair"))
        self.assertIn(b"## fix", run_git(bob / "shop-fix", "status", "-sb"))

    def test_worktree_of_a_repository_elsewhere_is_found_by_it(self) -> None:
        there, tree = self.folder / "linked", self.cases / "ann" / "linked-fix"
        there.mkdir()
        tree.parent.mkdir()
        run_git(there, "init", "-q", "-b", "main", "--template=")
        run_git(there, "commit", "-q", "--allow-empty", "-m", "first")
        run_git(there, "worktree", "add", "-q", "-b", "fix", str(tree))
        ann = self.own(self.start(), "ann")
        self.assertIn(str(ann / "linked-fix"), run_git(there, "worktree", "list").decode())

    def test_agents_find_conversations_by_the_new_path(self) -> None:
        self.old.fill()
        bob = self.own(self.start(), "bob")
        files = TranscriptLocations.from_home(self.old.home)
        kept = files.get_claude_folder(f"{bob}/shop") / f"{SESSION}.jsonl"
        self.assertIn(f"{self.cases}/bob/shop", kept.read_text())
        self.assertTrue(
            files.get_claude_folder(f"{self.cases}/bob/shop").joinpath(kept.name).samefile(kept)
        )
        pi = self.old.home / ".pi/agent/sessions" / f"-{str(bob).replace('/', '-')}-shop--"
        self.assertEqual(["1_a.jsonl"], os.listdir(pi))
        named = self.old.home / ".gemini" / "tmp" / "bob" / ".project_root"
        self.assertEqual(f"{bob}/shop", named.read_text())

    def test_conversations_that_a_session_keeps_elsewhere(self) -> None:
        elsewhere = self.folder / "kept"
        moved = json.dumps({"CLAUDE_CONFIG_DIR": str(elsewhere)})
        shop = self.cases / "bob" / "shop"
        shop.mkdir(parents=True)
        self.old.session(SESSION, "bob", shop, mode="primary", env_overrides=moved)
        self.old.talk(shop)
        (self.old.home / ".claude").rename(elsewhere)
        bob = self.own(self.start(), "bob")
        files = TranscriptLocations.from_home(self.old.home).with_environment(
            "primary", {"CLAUDE_CONFIG_DIR": str(elsewhere)}
        )
        self.assertEqual([f"{SESSION}.jsonl"], os.listdir(files.get_claude_folder(f"{bob}/shop")))

    def test_conversation_that_a_running_agent_begins_later_is_found(self) -> None:
        """Nothing of it is on disk when the folder moves, and the agent goes by the old path."""
        shop = self.cases / "bob" / "shop"
        shop.mkdir(parents=True)
        self.old.session(SESSION, "bob", shop, mode="primary", pid=7)
        self.old.session("s2", "bob", shop, mode="pi", pid=8)
        self.old.session("s3", "bob", shop, mode="shell", pid=9)
        self.old.session("s4", "bob", self.cases / "bob", mode="primary", pid=None)
        bob = self.own(self.start(), "bob")
        files = TranscriptLocations.from_home(self.old.home)
        pi = self.old.home / ".pi/agent/sessions"
        claude = files.get_claude_folder(str(shop))
        for folder in (claude, pi / f"-{str(shop).replace('/', '-')}--"):
            (folder / "later.jsonl").write_text("{}")
            self.assertEqual(2, len(os.listdir(folder.parent)))
        moved = pi / f"-{str(bob).replace('/', '-')}-shop--"
        for found in (files.get_claude_folder(f"{bob}/shop"), moved):
            self.assertEqual(["later.jsonl"], os.listdir(found))

    def test_second_start_changes_nothing(self) -> None:
        self.old.fill()
        before = self.paths(self.start()), self.old.look()
        self.assertEqual(before, (self.paths(self.start()), self.old.look()))

    def test_cases_reached_through_a_link_are_known_by_both_paths(self) -> None:
        self.old.fill()
        link = self.folder.parent / "link"
        link.symlink_to(self.folder)
        self.old.program = program_in(link)
        database = self.start()
        bob = self.own(database, "bob")
        (row,) = database.query_rows("SELECT working_dir FROM sessions WHERE id = ?", (SESSION,))
        self.assertEqual(f"{bob}/shop", row["working_dir"])

    def test_columns_with_paths_are_found_by_their_names(self) -> None:
        known = {
            ("sessions", "working_dir"), ("agent_sessions", "transcript_path"),
            ("transcripts", "path"), ("transcript_files", "path"), ("cases", "path"),
            ("cases", "repository"), ("case_trash", "path"), ("case_containers", "path"),
            ("intents", "working_dir"),
        }  # fmt: skip
        self.assertEqual(set(), known - set(path_columns(self.open())))


class WhoseFolderTests(MoveCase):
    def stays(self, name: str = "bob") -> None:
        """The account gets a folder of its own, and what was there is left as it is."""
        before = sorted(os.listdir(self.cases / name))
        database = self.start()
        self.assertFalse((self.cases / name).is_symlink())
        self.assertEqual(before, sorted(os.listdir(self.cases / name)))
        self.assertFalse(os.path.lexists(self.own(database, name)))

    def test_case_of_no_account_stays(self) -> None:
        (self.cases / "bob").mkdir()
        self.old.insert("cases", owner="", name="Bob", created_at=1)
        self.stays()

    def test_case_of_a_session_of_no_account_stays(self) -> None:
        (self.cases / "bob").mkdir()
        self.old.session("s", None, self.cases / "bob", case_name="bob")
        self.stays()

    def test_case_of_a_job_of_no_account_stays(self) -> None:
        (self.cases / "bob").mkdir()
        self.old.insert(
            "cron_jobs", id="j", definition=json.dumps({"case_name": "bob"}), created_at=1,
            updated_at=1, completed_once=0, covered=0, skipping=0,
        )  # fmt: skip
        self.stays()

    def test_scaffold_of_a_case_stays(self) -> None:
        (self.cases / "bob").mkdir()
        pointer = "# bob\n\nThe notes for agents are in CLAUDE.md.\n"
        (self.cases / "bob" / "AGENTS.md").write_text(pointer)
        self.stays()

    def test_case_that_an_agent_made_stays(self) -> None:
        (self.cases / "bob").mkdir()
        (self.cases / "bob" / ".service-agent-case.json").write_text("{}")
        self.stays()

    def test_file_by_the_name_of_an_account_stays(self) -> None:
        (self.cases / "bob").write_text("mine")
        self.assertFalse(os.path.lexists(self.own(self.start(), "bob")))
        self.assertEqual("mine", (self.cases / "bob").read_text())

    def test_instructions_that_an_account_wrote_make_no_case_of_its_folder(self) -> None:
        (self.cases / "bob" / ".claude").mkdir(parents=True)
        (self.cases / "bob" / "CLAUDE.md").write_text("# Notes\n")
        bob = self.own(self.start(), "bob")
        self.assertEqual([".claude", "CLAUDE.md"], sorted(os.listdir(bob)))

    def test_folder_behind_a_link_stays_where_it_is(self) -> None:
        there = self.folder / "big disk"
        (there / "shop").mkdir(parents=True)
        (self.cases / "bob").symlink_to(Path("..") / "big disk")
        bob = self.own(self.start(), "bob")
        self.assertEqual(str(there), os.path.realpath(bob))
        self.assertEqual(["shop"], os.listdir(self.cases / "bob"))

    def test_folder_that_cannot_be_moved_refuses_the_start(self) -> None:
        self.old.fill()

        def rename(old: Any, new: Any) -> None:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), old)

        self.patch(os, "rename", rename)
        error = self.assertRaises(StartError, self.start)
        self.assertIn(f"{self.cases}/bob: cannot be moved to {self.cases}/.accounts/", str(error))


class CutOffTests(MoveCase):
    """A start that is killed between two of its effects is finished by the next one."""

    def setUp(self) -> None:
        super().setUp()
        self.old.fill()
        # The ids are chosen once, so that every walk ends alike.
        self.open().close()
        self.kept = self.folder.with_name("kept")
        shutil.copytree(self.folder, self.kept, symlinks=True)

    def again(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder, symlinks=True)

    def killed_at(self, number: int) -> bool:
        """Start, and end before the effect of that number; whether there was one."""
        left = [number]

        def counted(work: Callable[..., Any]) -> Callable[..., Any]:
            def effect(*args: Any, **named: Any) -> Any:
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
                return work(*args, **named)

            return effect

        database = self.open()
        patches = [self.patch(os, name, counted(getattr(os, name))) for name in EFFECTS]
        patches.append(self.patch(Database, "execute", counted(Database.execute)))
        try:
            move_account_folders(self.old.program, database)
        except Killed:
            return True
        finally:
            for each in patches:
                each.restore()
            database.close()
        return False

    @pytest.mark.long
    def test_next_start_finishes_what_was_begun(self) -> None:
        whole = self.paths(self.start()), self.old.look()
        number = 0
        self.again()
        while self.killed_at(number):
            self.assertEqual(whole, (self.paths(self.start()), self.old.look()), number)
            self.again()
            number += 1
        self.assertGreater(number, 40)

    def test_what_came_to_the_old_path_meanwhile_is_left_alone(self) -> None:
        """A program that goes by the old path may make it again before the link is there."""
        number = 0
        while not (self.cases / ".accounts").exists() or (self.cases / "bob").exists():
            self.again()
            self.assertTrue(self.killed_at(number))
            number += 1
        (self.cases / "bob").mkdir()
        (self.cases / "bob" / "stray").write_text("x")
        database = self.start()
        self.assertEqual(["stray"], os.listdir(self.cases / "bob"))
        self.assertEqual(["shop", "shop-fix"], sorted(os.listdir(self.own(database, "bob"))))


class HostileTests(MoveCase):
    """What an account may have put into its folder does not keep the service from starting."""

    def test_pipes_where_files_are_looked_for(self) -> None:
        git_dir = self.cases / "bob" / "shop" / ".git"
        (git_dir / "worktrees" / "x").mkdir(parents=True)
        os.mkfifo(git_dir / "worktrees" / "x" / "gitdir")
        os.mkfifo(self.cases / "bob" / "AGENTS.md")
        self.assertEqual(["AGENTS.md", "shop"], sorted(os.listdir(self.own(self.start(), "bob"))))

    def test_conversations_below_a_file(self) -> None:
        shop, file = self.cases / "bob" / "shop", self.folder / "file"
        shop.mkdir(parents=True)
        file.touch()
        moved = json.dumps({"CLAUDE_CONFIG_DIR": str(file)})
        self.old.session(SESSION, "bob", shop, mode="primary", pid=7, env_overrides=moved)
        self.old.session("s2", "bob", shop, mode="primary", pid=8)
        bob = self.own(self.start(), "bob")
        files = TranscriptLocations.from_home(self.old.home)
        kept = files.get_claude_folder(f"{bob}/shop")
        self.assertEqual(files.get_claude_folder(str(shop)).name, os.readlink(kept))

    def test_pointers_that_lead_to_what_is_not_theirs(self) -> None:
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "gitdir").write_text("/etc/passwd\n")
        (self.cases / "bob" / "shop").mkdir(parents=True)
        (self.cases / "bob" / "shop" / ".git").write_text(f"gitdir: {outside}\n")
        (self.cases / "bob" / "link").mkdir()
        (self.cases / "bob" / "link" / ".git").symlink_to(outside)
        self.start()
        self.assertEqual("/etc/passwd\n", (outside / "gitdir").read_text())

    def test_pointer_that_cannot_be_written(self) -> None:
        self.old.fill()

        def mkstemp(**named: Any) -> Any:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        (self.folder / "data" / "settings.json").unlink()
        database = self.open()
        self.patch(tempfile, "mkstemp", mkstemp)
        move_account_folders(self.old.program, database)
        bob = self.own(database, "bob")
        self.assertIn(str(self.cases / "bob"), (bob / "shop-fix" / ".git").read_text())
        self.assertIn(b"## fix", run_git(bob / "shop-fix", "status", "-sb"))

    def test_settings_that_are_broken_are_left_for_their_reader(self) -> None:
        self.old.fill()
        (self.folder / "data" / "settings.json").write_text("{")
        self.start()
        self.assertEqual("{", (self.folder / "data" / "settings.json").read_text())
