"""C{tservice backup} and C{tservice restore}: the data folder as one file.

The database is copied by SQLite while the service may use it. All other files are small and always
replaced as a whole, so that each copy is consistent.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tservice import __version__
from tservice.console.terminal import CommandError, Terminal
from tservice.core.disk.files import replace_atomically
from tservice.core.kernel.clock import get_system_seconds
from tservice.core.process.folder_lock import ADDRESS_NAME, LOCK_NAME, FolderLock

DATABASE = "tservice.db"
MANIFEST = "tservice-backup.json"
LEFT_OUT = frozenset({"mux", LOCK_NAME, ADDRESS_NAME, f"{DATABASE}-wal", f"{DATABASE}-shm"})
"""Entries of the data folder that mean nothing in a copy: sockets, locks and SQLite's own files."""
EARLIER = "before-restore-"
"""Beginning of the name of the folder with the files that a restore replaced."""
RESTORING = "restoring-"
"""Beginning of the name of the folder that a restore unpacks into."""
CHUNK = 1 << 20
"""Bytes read at a time."""


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
    """Replace the contents of the data folder by those of a backup.

    The folder stays, and its lock is held, so that no service starts on half of the files. Sockets
    of running sessions stay as well, so that they are attached again. The earlier files are kept.

    @raise StartError: a service uses the data folder.
    @raise CommandError: the file is no backup; nothing is changed.
    """
    with _open_backup(source) as archive:
        _check_backup(archive, source, data_dir)
        lock = FolderLock(data_dir)
        lock.startService()
        try:
            return _replace_files(archive, data_dir, source, terminal)
        finally:
            lock.stopService()


def _replace_files(
    archive: tarfile.TarFile, data_dir: Path, source: Path, terminal: Terminal
) -> int:
    """Replace the files, all within the data folder, which may be a file system of its own."""
    replaced = [path for path in data_dir.iterdir() if not _is_kept(path.name)]
    with tempfile.TemporaryDirectory(prefix=RESTORING, dir=data_dir) as folder:
        made = Path(folder)
        try:
            archive.extractall(made, filter="data")
        except (OSError, tarfile.TarError, EOFError) as error:
            raise CommandError(f"{source}: {error}; nothing was changed") from None
        (made / MANIFEST).unlink()
        for path in made.rglob("*"):
            path.chmod(path.stat().st_mode & 0o700)
        if replaced:
            aside = data_dir / f"{EARLIER}{int(get_system_seconds())}"
            aside.mkdir(mode=0o700)
            for path in replaced:
                path.rename(aside / path.name)
            terminal.print_line(f"the earlier data is in {aside}")
        for path in made.iterdir():
            path.rename(data_dir / path.name)
    terminal.print_line(f"restored {data_dir} from {source}; start the service now")
    return 0


def _is_kept(name: str) -> bool:
    """Return true for an entry of the data folder that a restore leaves in its place."""
    return name in (LOCK_NAME, "mux") or name.startswith((EARLIER, RESTORING))


def _is_stored(name: str) -> bool:
    """Return true for an entry of the data folder that a backup holds."""
    return name not in LEFT_OUT and not name.startswith((EARLIER, RESTORING))


def _list_files(data_dir: Path) -> Iterator[Path]:
    """Iterate over the folders and regular files to store; links and sockets are left out."""
    for base, folders, names in os.walk(data_dir):
        here = Path(base)
        if here == data_dir:
            folders[:] = filter(_is_stored, folders)
            names = [name for name in names if _is_stored(name) and name != DATABASE]
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


@contextmanager
def _open_backup(source: Path) -> Iterator[tarfile.TarFile]:
    try:
        with gzip.open(source) as stream:  # to its checksum, which tarfile does not read
            while stream.read(CHUNK):
                pass
        archive = tarfile.open(source)  # noqa: SIM115 - closed below, once it is read
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        raise CommandError(f"{source}: {error}; nothing was changed") from None
    with archive:
        yield archive


def _check_backup(archive: tarfile.TarFile, source: Path, target: Path) -> None:
    """Read the whole archive before anything is written.

    @raise CommandError: it is damaged, holds a path outside of its folder, or is no backup.
    """
    try:
        for member in archive:
            tarfile.data_filter(member, str(target))
        file = archive.extractfile(MANIFEST)
        found = json.loads(file.read(4096)) if file is not None else {}
    except (KeyError, ValueError):
        found = {}
    except (OSError, tarfile.TarError, EOFError) as error:
        raise CommandError(f"{source}: {error}; nothing was changed") from None
    if found.get("program") != "tservice":
        raise CommandError(f"{source} is no backup made by 'tservice backup'; nothing was changed")
