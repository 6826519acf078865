"""C{tservice backup} and C{tservice restore}: the data folder as one file.

The database is copied by SQLite while the service may use it. All other files are small and always
replaced as a whole, so that each copy is consistent.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tservice import __version__
from tservice.console.running import is_running
from tservice.console.terminal import CommandError, Terminal
from tservice.core.disk.files import replace_atomically
from tservice.core.kernel.clock import get_system_seconds
from tservice.core.process.folder_lock import ADDRESS_NAME, LOCK_NAME

DATABASE = "tservice.db"
MANIFEST = "tservice-backup.json"
LEFT_OUT = frozenset({"mux", LOCK_NAME, ADDRESS_NAME, f"{DATABASE}-wal", f"{DATABASE}-shm"})
"""Entries of the data folder that mean nothing in a copy: sockets, locks and SQLite's own files."""


def create_backup(data_dir: Path, target: Path, terminal: Terminal) -> int:
    """Write everything that the service stores to one compressed file, with mode 0600.

    @param target: the file; an existing one is replaced at the end.
    @raise CommandError: a file cannot be read or written; an existing backup stays.
    """
    if not (data_dir / DATABASE).exists():
        raise CommandError(f"{data_dir} has no {DATABASE}: name the folder with --data-dir")
    try:
        with (
            replace_atomically(target.absolute()) as temporary,
            tarfile.open(temporary, "w:gz") as archive,
        ):
            _add_manifest(archive)
            _add_database(archive, data_dir / DATABASE)
            for path in _list_files(data_dir):
                archive.add(path, str(path.relative_to(data_dir)), recursive=False)
    except (OSError, sqlite3.Error) as error:
        raise CommandError(f"no backup was written: {error}") from None
    terminal.print_line(
        f"{target}: {target.stat().st_size} bytes. It holds secrets: keep it private."
    )
    return 0


def restore_backup(source: Path, data_dir: Path, terminal: Terminal) -> int:
    """Put a backup in the place of the data folder, which is kept beside it.

    Sockets of running sessions move to the new folder, so that they are attached again.

    @raise CommandError: the service runs, or the file is no backup; nothing is changed.
    """
    if is_running(data_dir):
        raise CommandError(f"a service uses {data_dir}: stop it first")
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{data_dir.name}.restored-", dir=data_dir.parent))
    try:
        with tarfile.open(source, "r:gz") as archive:
            _check_manifest(archive, source)
            archive.extractall(made, filter="data")
    except CommandError:
        shutil.rmtree(made)
        raise
    except (OSError, tarfile.TarError, EOFError) as error:
        shutil.rmtree(made)
        raise CommandError(f"{source}: {error}; nothing was changed") from None
    (made / MANIFEST).unlink()
    for path in made.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    if data_dir.exists():
        aside = data_dir.with_name(f"{data_dir.name}.old-{int(get_system_seconds())}")
        data_dir.rename(aside)
        if (aside / "mux").exists():
            (aside / "mux").rename(made / "mux")
        terminal.print_line(f"the earlier data is in {aside}")
    made.rename(data_dir)
    terminal.print_line(f"restored {data_dir} from {source}; start the service now")
    return 0


def _list_files(data_dir: Path) -> Iterator[Path]:
    """Iterate over the folders and regular files to store; links and sockets are left out."""
    for base, folders, names in os.walk(data_dir):
        here = Path(base)
        if here == data_dir:
            folders[:] = [name for name in folders if name not in LEFT_OUT]
            names = [name for name in names if name not in LEFT_OUT | {DATABASE}]
        folders.sort()
        yield from (here / name for name in folders)
        for name in sorted(names):
            path = here / name
            if path.is_file() and not path.is_symlink():
                yield path


def _add_manifest(archive: tarfile.TarFile) -> None:
    text = json.dumps({"program": "tservice", "version": __version__}).encode()
    entry = tarfile.TarInfo(MANIFEST)
    entry.size, entry.mode = len(text), 0o600
    archive.addfile(entry, io.BytesIO(text))


def _add_database(archive: tarfile.TarFile, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / DATABASE
        with (
            closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copied)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        copied.chmod(0o600)
        archive.add(copied, DATABASE)


def _check_manifest(archive: tarfile.TarFile, source: Path) -> None:
    try:
        file = archive.extractfile(MANIFEST)
        found = json.loads(file.read(4096)) if file is not None else {}
    except (KeyError, ValueError):
        found = {}
    if found.get("program") != "tservice":
        raise CommandError(f"{source} is no backup made by 'tservice backup'; nothing was changed")
