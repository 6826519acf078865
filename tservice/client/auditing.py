"""C{tsctl audit verify}: look at the whole audit log, also while the service runs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tservice.core.files import FileError, read_text
from tservice.store.chain import BrokenHead, ChainHead, ChainVerdict, read_head, verify

DATABASE, KEY, HEAD = "tservice.db", "audit-key", "audit-head"


class CannotLook(Exception):
    """A file that is needed is not there, or cannot be read."""


def verify_log(data_dir: Path) -> ChainVerdict:
    """What is wrong with the audit log of a data folder.

    @raise CannotLook: no log, or no key to look at it with.
    """
    try:
        key = bytes.fromhex(read_text(data_dir / KEY, private=True).strip())
    except (FileNotFoundError, NotADirectoryError):
        raise CannotLook(
            f"no audit log in {data_dir}: name the service's data folder by --data-dir"
        ) from None
    except OSError as error:
        raise CannotLook(f"{data_dir / KEY}: {error.strerror}") from None
    except (FileError, ValueError) as error:
        raise CannotLook(f"{data_dir / KEY}: {error}") from None
    # The head first: rows that come meanwhile are beyond it, which is in order.
    try:
        head = read_head(data_dir / HEAD, key)
    except BrokenHead as error:
        return ChainVerdict(rows=0, fault=f"the head: {error}")
    try:
        return _verify_rows(data_dir / DATABASE, head, key)
    except sqlite3.Error as error:
        raise CannotLook(f"{data_dir / DATABASE}: {error}") from None
    except UnicodeDecodeError:
        return ChainVerdict(rows=0, fault="a row holds broken text")


def _verify_rows(path: Path, head: ChainHead, key: bytes) -> ChainVerdict:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM audit_log ORDER BY seq")
        return verify((dict(row) for row in rows), head, key)
    finally:
        connection.close()
