"""Whatever writes a file of a workspace, for a test that has each of its steps fail."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from twisted.internet.task import Clock

from tests.runtime_harness import bounds_of, own_location, places_of
from tests.unit.files.harness import AtOnce
from tservice.client.commands.files import write_atomically
from tservice.files import writing
from tservice.files.confined_path import AccessRules
from tservice.files.model import Workspace
from tservice.files.uploads.sweeper import UploadSweeper
from tservice.files.uploads.upload_forms import UploadReceiver, UploadRules, open_uploads_folder
from tservice.files.workers import WorkspaceWorkers
from tservice.git.interfaces import WorkingFile
from tservice.git.working_copies.working_files import read_working_file, replace_working_file


def save_writer(text: str) -> Callable[[Path], object]:
    """Saves a text over what is there."""
    wanted = writing.FileEdit(path="a.txt", content=text.encode(), base_hash=None, force=True)
    return lambda folder: writing.save_edit(str(folder), wanted, AccessRules())


def exchange_writer(text: str) -> Callable[[Path], object]:
    """Puts a text in the place of what is there, as a revert does."""

    def write(folder: Path) -> None:
        root = os.path.realpath(os.fsencode(folder))
        before = read_working_file(root, b"a.txt")
        new = WorkingFile(mode="100644", data=text.encode())
        replace_working_file(root, b"a.txt", before.hash, new)

    return write


def upload_writer(folder: Path) -> None:
    """Take a form in, by names that are the same each time."""
    rules = UploadRules(field="file", most=1, size=9, kind="upload")
    workspace = os.open(folder, os.O_PATH)
    with ExitStack() as held, mock.patch.object(secrets, "token_hex", lambda size: "0f" * size):
        held.callback(os.close, workspace)
        receiver = UploadReceiver.create("BB", rules, lambda: 1_800_000_000_000)
        receiver.open_folder(held, open_uploads_folder(workspace, ".service-uploads"))
        head = b'--BB\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        receiver.process_bytes(head + b"content\r\n--BB--\r\n")
        receiver.store_files()


def sweep_writer(name: str) -> Callable[[Path], object]:
    """Remembers where there are uploads."""

    def write(folder: Path) -> None:
        workers = WorkspaceWorkers(AtOnce(), places_of(own_location(folder)), bounds_of(folder))
        sweeper = UploadSweeper(Clock(), workers, folder / "folders.json", lambda: [])
        sweeper.remember_workspace(Workspace(session_id="s", folder=f"/{name}"))

    return write


def fetch_writer(content: bytes) -> Callable[[Path], object]:
    """Keeps what tsctl fetched."""

    def write(folder: Path) -> None:
        found = SimpleNamespace(write_to=lambda file: file.write(content))
        write_atomically(cast(Any, found), folder / "a")

    return write
