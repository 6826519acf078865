"""A database and folders as they were when accounts' folders were called by their names."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from twisted.internet.task import Clock

from tests.unit.git.random_repositories import run_git
from tests.unit.store.story_steps import session_record
from tservice.core.config.model import Config
from tservice.core.locations.move import FolderMove
from tservice.core.locations.workspace_bounds import ACCOUNTS
from tservice.core.logs.redact import SecretRedactor
from tservice.runtime.launch_context import LaunchContext
from tservice.sessions.record.repository import SessionRepository
from tservice.store.database import Database
from tservice.store.schemas import find_packaged_schemas, read_steps
from tservice.suggestions.model import intent_key
from tservice.tap.accountfolders import path_columns

SESSION = "00000000-0000-4000-8000-000000000001"


def steps_of_before() -> Sequence[str]:
    """The steps of the database up to the one that gives accounts their ids."""
    every = read_steps(find_packaged_schemas())
    (last,) = (at for at, step in enumerate(every) if "account_moves" in step)
    return every[:last]


def program_in(folder: Path, **environ: str) -> LaunchContext:
    """A service whose data, cases and home are in C{folder}."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    return LaunchContext(
        reactor=Clock(),
        config=Config(data_dir=folder / "data", cases_dir=folder / "cases"),
        environ=environ,
        home=folder / "home",
        redactor=SecretRedactor(),
    )


class OldService:
    """Accounts C{ann}, C{bob} and C{bob-x}; C{gone} was removed and has left a session.

    @ivar cases: where everybody's folders are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = program_in(folder)
        self.path = folder / "data" / "tservice.db"
        self.cases, self.home = folder / "cases", folder / "home"
        self.cases.mkdir()
        database = Database.open_file(self.path, clock=Clock(), schemas=steps_of_before())
        database.close()
        for name in ("ann", "bob", "bob-x"):
            self.insert(
                "accounts",
                username=name,
                role="user",
                password_hash="x",
                can_bypass_permissions=0,
                enabled=1,
                must_change_password=0,
                created_at=1,
            )

    def insert(self, table: str, **values: Any) -> None:
        """Add a row, as the version of before did."""
        with closing(sqlite3.connect(self.path)) as database, database:
            row = {key: values[key] for key in values.keys() & _columns(database, "main", table)}
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            database.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks})",
                [*row.values()],
            )

    def session(self, name: str, owner: str | None, folder: Path, **values: Any) -> None:
        """Add a session that works in a folder."""
        whole = Database.open_in_memory()
        SessionRepository(whole).save(session_record(name))
        row = dict(whole.query_rows("SELECT * FROM sessions")[0])
        whole.close()
        self.insert("sessions", **{**row, "owner": owner, "working_dir": str(folder), **values})

    def fill(self) -> None:
        """Give C{bob} a repository, its worktree and all else that names a path."""
        shop, tree = self.cases / "bob" / "shop", self.cases / "bob" / "shop-fix"
        shop.mkdir(parents=True)
        run_git(shop, "init", "-q", "-b", "main", "--template=")
        run_git(shop, "commit", "-q", "--allow-empty", "-m", "first")
        run_git(shop, "worktree", "add", "-q", "-b", "fix", str(tree))
        for name in ("bob-x", "gone"):
            (self.cases / name / "shop").mkdir(parents=True)
        self.session(SESSION, "bob", shop, case_name="shop")
        self.session("s2", "bob-x", self.cases / "bob-x" / "shop")
        self.session("s3", "gone", self.cases / "gone" / "shop")
        self.insert(
            "cases", owner="bob", name="shop-fix", path=str(tree), created_at=1,
            repository=str(shop), branch="fix",
        )  # fmt: skip
        self.insert("case_trash", path=str(shop.parent / ".trash" / "old-1"), due=9)
        definition = {"working_dir": str(shop), "case_name": "shop", "prompt_file_path": None}
        self.insert(
            "cron_jobs", id="j", owner="bob", definition=json.dumps(definition), created_at=1,
            updated_at=1, completed_once=0, covered=0, skipping=0,
        )  # fmt: skip
        self.insert(
            "intents", key=intent_key("bob", str(shop)), owner="bob", working_dir=str(shop),
            goals="[]",
            prompts="[]", updated_at=1,
        )  # fmt: skip
        self.insert("collected_since", subject=intent_key("bob", str(shop)), at=7)
        settings = {"defaultWorkingDir": str(shop), "historyLimit": 2000}
        (self.folder / "data" / "settings.json").write_text(json.dumps(settings))
        (self.folder / "data" / "settings.json").chmod(0o600)
        self.talk(shop)
        self.talk(self.cases / "bob-x" / "shop")

    def talk(self, folder: Path) -> None:
        """Leave a conversation of each agent that goes by the path."""
        written = str(folder).replace("/", "-").replace("_", "-")
        claude = self.home / ".claude" / "projects" / written / f"{SESSION}.jsonl"
        pi = self.home / ".pi/agent/sessions" / f"-{str(folder).replace('/', '-')}--" / "1_a.jsonl"
        asked = {
            "type": "user",
            "sessionId": SESSION,
            "cwd": str(folder),
            "message": {"role": "user", "content": "hello"},
        }
        for file, line in (
            (claude, asked),
            (pi, {"type": "session", "id": "a", "cwd": str(folder)}),
        ):
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(line) + "\n")
        gemini = self.home / ".gemini" / "tmp" / folder.parent.name
        gemini.mkdir(parents=True)
        (gemini / ".project_root").write_text(str(folder))

    def look(self) -> dict[str, object]:
        """Everything below the folder but the database, by its path."""
        found: dict[str, object] = {}
        for at, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                path = Path(at, name)
                if path.name.startswith("tservice.db"):
                    continue
                known = os.readlink(path) if path.is_symlink() else path.is_dir()
                found[str(path.relative_to(self.folder))] = known or path.read_bytes()
        return found


def age(path: Path, cases: Path) -> None:
    """Make a data folder one of before: folders by name, and a database without ids.

    What runs in the folders goes on, as it did when they were made by the version of before.
    """
    with closing(Database.open_file(path, clock=Clock())) as database:
        for name, known in database.query_rows("SELECT username, id FROM accounts"):
            move = FolderMove(str(cases / ACCOUNTS / known), str(cases / name))
            if Path(move.old).exists():
                os.rename(move.old, move.new)
                for pointer in (*Path(move.new).glob("*/.git/worktrees/*/gitdir"),
                                *Path(move.new).glob("*/.git")):  # fmt: skip
                    if pointer.is_file():
                        pointer.write_text(pointer.read_text().replace(move.old, move.new))
            for table, column in path_columns(database):
                database.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (move.old, move.new)
                )
    _copy_into_older(path)
    if (cases / ACCOUNTS).exists():
        (cases / ACCOUNTS).rmdir()


def _copy_into_older(path: Path) -> None:
    """Put the rows into a database that has the steps of before alone."""
    older = path.with_name("older.db")
    Database.open_file(older, clock=Clock(), schemas=steps_of_before()).close()
    with closing(sqlite3.connect(older, isolation_level=None)) as database:
        database.execute("ATTACH ? AS newer", (str(path),))
        database.execute("PRAGMA foreign_keys = OFF")
        tables = "SELECT name FROM main.sqlite_master WHERE type = 'table'"
        for (table,) in database.execute(tables).fetchall():
            if table != "schema_version" and not table.startswith("sqlite_"):
                names = ", ".join(
                    _columns(database, "main", table) & _columns(database, "newer", table)
                )
                if not names:
                    continue  # a table that is gone by now
                database.execute(
                    f"INSERT INTO main.{table} ({names}) SELECT {names} FROM newer.{table}"
                )
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    older.rename(path)


def _columns(database: sqlite3.Connection, schema: str, table: str) -> set[str]:
    return {row[1] for row in database.execute(f"PRAGMA {schema}.table_info({table})")}
