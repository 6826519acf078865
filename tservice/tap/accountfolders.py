"""Move of account folders that are named after the account, to names that are the account's id
(protocol-cases).

A schema step lists the accounts in the table C{account_moves}.  A row is deleted after the last
part of its move.  Each part skips work that is already done, so the next start finishes a move that
was interrupted.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs
from attrs import frozen
from twisted.logger import Logger

from tservice.agents.relocation import relocate_conversations, relocate_running
from tservice.agents.transcripts.files import MODES, TranscriptLocations
from tservice.cases.case_folders import is_scaffolded
from tservice.core.disk.files import read_small_text, rewrite_text, sync_path
from tservice.core.kernel.errors import StartError
from tservice.core.locations.move import FolderMove
from tservice.core.locations.workspace_bounds import ACCOUNTS, get_account_folder
from tservice.runtime.launch_context import LaunchContext
from tservice.store.database import Database
from tservice.suggestions.model import intent_key

COLUMNS = re.compile(r"(.+_)?(path|dir|repository)")
"""Pattern for the names of columns that hold a path.

Paths in the definitions of jobs and in the keys of intents are handled separately.
"""
FILES = ("settings.json", "upload-folders.json")
"""Names of files in the data folder that hold paths."""

_RENAME = """
    UPDATE {table} SET {column} = :new || substr({column}, length(:old) + 1)
    WHERE {column} = :old OR substr({column}, 1, length(:old) + 1) = :old || '/'
"""
_SINGLE_USER = """
    SELECT 1 FROM cases WHERE owner = '' AND name = :name
    UNION ALL SELECT 1 FROM case_containers WHERE owner = '' AND name = :name
    UNION ALL SELECT 1 FROM sessions
        WHERE owner IS NULL AND (lower(case_name) = :name OR working_dir = :folder)
    UNION ALL SELECT 1 FROM cron_jobs
        WHERE owner IS NULL AND (lower(json_extract(definition, '$.case_name')) = :name
            OR json_extract(definition, '$.working_dir') = :folder)
"""
_RUNNING = """
    SELECT mode, working_dir, env_overrides FROM sessions
    WHERE pid IS NOT NULL AND os_user IS NULL AND location = 'local'
"""
_FILE_LIMIT = 8 * 1024 * 1024
_GITDIR = "gitdir: "

_log = Logger()


def move_account_folders(program: LaunchContext, database: Database) -> None:
    """Move the folders that are still named after their account, and update stored paths.

    @raise StartError: a folder cannot be moved.
    """
    for row in database.query_rows("SELECT id, username FROM account_moves ORDER BY username"):
        move = _AccountFolderMove(program, database, row["id"], row["username"])
        try:
            move.run()
        except OSError as error:
            why = f"{move.old}: cannot be moved to {move.new}: {error.strerror or error}"
            raise StartError(f"cannot start: {why}: mend that, and start it again") from error


@frozen
class _AccountFolderMove:
    """Move of one account's folder to its new name."""

    _program: LaunchContext
    _database: Database
    _id: str
    _name: str

    @property
    def old(self) -> Path:
        """Path of the folder before the move, named after the account."""
        return self._program.config.cases_dir / self._name

    @property
    def new(self) -> Path:
        """Path of the folder after the move, named after the account's id."""
        return get_account_folder(self._program.config.cases_dir, self._id)

    def run(self) -> None:
        """Rename the folder and update stored paths, skipping parts that are already done."""
        if not os.path.lexists(self.new) and self._is_single_user_case():
            text = "{old} is a case from before there were accounts, so {name} has {new} instead"
            _log.warn(text, old=str(self.old), name=self._name, new=str(self.new))
            self._delete_row()
            return
        self._rename()
        data, moves = self._program.config.data_dir, tuple(self._list_path_moves())
        for move in moves:
            self._run_optional_step("worktrees", partial(self._repair_worktrees, move))
            for files in self._conversations():
                self._run_optional_step(
                    "conversations", partial(relocate_conversations, files, move)
                )
            self._relocate_running(move)
            for name in FILES:
                rewrite_text(data / name, partial(_rewrite_json, move=move), limit=_FILE_LIMIT)
        with self._database.transaction():
            for move in moves:
                _rewrite_database(self._database, move)
            self._delete_row()

    def _run_optional_step(self, what: str, work: Callable[[], None]) -> None:
        """Run a part of the move that may fail; a failure is logged and does not prevent the start.

        The link at the old path keeps old paths valid.

        @param what: describes the objects that still name the old path, for the log.
        """
        try:
            work()
        except OSError as error:
            text = "{folder}: its {what} still name {old} ({error})"
            _log.warn(text, folder=str(self.new), what=what, old=str(self.old), error=str(error))

    def _is_single_user_case(self) -> bool:
        """Return whether the folder is a case of single-user mode that happens to have the
        account's name.
        """
        known = self._database.query_first_row(
            _SINGLE_USER, {"name": self._name, "folder": str(self.old)}
        )
        return known is not None or is_scaffolded(self.old)

    def _rename(self) -> None:
        """Rename the folder, and leave a symbolic link at the old path.

        Running programs, virtual environments, containers and old conversations use the old path.
        The link gives no access: rights are checked for the folder to which it resolves.
        """
        old, new = self.old, self.new
        if not os.path.lexists(new) and old.is_dir():
            new.parent.mkdir(exist_ok=True)
            if old.is_symlink():
                os.symlink(os.path.realpath(old), new)
                old.unlink()
            else:
                os.rename(old, new)
            sync_path(new.parent)
        if os.path.lexists(new) and not os.path.lexists(old):
            os.symlink(Path(ACCOUNTS) / self._id, old)
            sync_path(old.parent)

    def _list_path_moves(self) -> Iterator[FolderMove]:
        """Yield the move with its paths as configured, and with symbolic links resolved if that
        differs.
        """
        real = Path(os.path.realpath(self.old.parent))
        yield FolderMove(str(self.old), str(self.new))
        if real != self.old.parent:
            yield FolderMove(str(real / self._name), str(get_account_folder(real, self._id)))

    def _conversations(self) -> Sequence[TranscriptLocations]:
        """Return the agents' conversation files of the service's own user."""
        files = TranscriptLocations.from_home(self._program.home)
        found = [files, *(files.with_environment(mode, self._program.environ) for mode in MODES)]
        for row in self._database.query_rows("SELECT * FROM sessions WHERE os_user IS NULL"):
            moved = files.with_environment(row["mode"], json.loads(row["env_overrides"]))
            if moved not in found:
                found.append(moved)
        return found

    def _relocate_running(self, move: FolderMove) -> None:
        """Relocate the conversations of agents that run, which may not be on disk yet.

        Whether a pane gets the service's own variables is unknown here, so both homes are prepared.
        """
        home = TranscriptLocations.from_home(self._program.home)
        for row in self._database.query_rows(_RUNNING):
            mode, own = row["mode"], json.loads(row["env_overrides"])
            for files in (home, home.with_environment(mode, self._program.environ)):
                moved = files.with_environment(mode, own)
                work = partial(relocate_running, moved, mode, row["working_dir"], move)
                self._run_optional_step("conversations", work)

    def _repair_worktrees(self, move: FolderMove) -> None:
        """Update the paths by which git worktrees and their repositories refer to each other.

        C{git worktree repair} cannot do this: the old path still resolves, through the link left in
        its
        place.
        """
        if not self.new.is_dir():
            return
        with os.scandir(self.new) as entries:
            folders = [each.path for each in entries if each.is_dir(follow_symlinks=False)]
        for folder in (self.new, *map(Path, sorted(folders))):
            for pointer in _list_pointer_files(folder / ".git", move):
                rewrite_text(pointer, partial(_rewrite_pointer, move=move))

    def _delete_row(self) -> None:
        self._database.execute("DELETE FROM account_moves WHERE id = ?", (self._id,))


def _rewrite_pointer(text: str, move: FolderMove) -> str:
    path = text.removeprefix(_GITDIR)
    line = path.rstrip("\n")
    return text[: -len(path)] + move.map_path(line) + path[len(line) :]


def _list_pointer_files(git: Path, move: FolderMove) -> Iterator[Path]:
    """Yield the files in which git stores the path of a worktree or of its repository.

    @param git: the C{.git} folder or file of a repository or worktree.
    """
    if git.is_symlink():
        return
    if git.is_file():
        yield git
        there = _read_pointer_target(git, move)
        if there is not None:
            yield there / "gitdir"
    for worktree in sorted((git / "worktrees").glob("*")):
        yield worktree / "gitdir"
        there = _read_pointer_target(worktree / "gitdir", move)
        if there is not None:
            yield there


def _read_pointer_target(pointer: Path, move: FolderMove) -> Path | None:
    """Return the path that a git pointer file names, after the move.

    @return: C{None} if the file names no absolute path.
    """
    path = _rewrite_pointer(read_small_text(pointer) or "", move).removeprefix(_GITDIR).rstrip("\n")
    return Path(path) if path.startswith("/") else None


def _rewrite_json(text: str, move: FolderMove) -> str:
    """Return a JSON text in which all strings that are paths in the folder have the new path."""
    old, new = (json.dumps(path, ensure_ascii=False)[:-1] for path in (move.old, move.new))
    for end in '/"':
        text = text.replace(f"{old}{end}", f"{new}{end}")
    return text


def _rewrite_database(database: Database, move: FolderMove) -> None:
    for row in database.query_rows("SELECT id, definition FROM cron_jobs"):
        text = _rewrite_json(row["definition"], move)
        database.execute("UPDATE cron_jobs SET definition = ? WHERE id = ?", (text, row["id"]))
    for row in database.query_rows("SELECT key, owner, working_dir FROM intents"):
        folder = move.map_path(row["working_dir"])
        if folder == row["working_dir"]:
            continue
        key = intent_key(row["owner"], folder)
        database.execute("UPDATE intents SET key = ? WHERE key = ?", (key, row["key"]))
        database.execute(
            "UPDATE collected_since SET subject = ? WHERE subject = ?", (key, row["key"])
        )
    for table, column in path_columns(database):
        database.execute(_RENAME.format(table=table, column=column), attrs.asdict(move))


def path_columns(database: Database) -> list[tuple[str, str]]:
    """Return pairs of a table and a column that hold paths, for all tables of the database."""
    sql = """
        SELECT tables.name, columns.name
        FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table'
    """
    return [
        (table, column) for table, column in database.query_rows(sql) if COLUMNS.fullmatch(column)
    ]
