"""C{files ls}, C{files get}, C{files put}: files of a session's workspace (protocol-files)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.caller import build_session_path
from tservice.client.link.transfer import DownloadedFile, open_download, upload_files
from tservice.client.shell import format_ago, format_cell
from tservice.client.terminal.safe import safe_line

HEAD = ("TYPE", "SIZE", "CHANGED", "NAME")


def ls(context: CommandContext) -> int:
    """List a folder."""
    words = context.words
    query = {"path": words.path or ".", "depth": 1, "showHidden": int(words.all)}
    path = build_session_path(context.find_session()["id"], "/files")
    found = context.caller.send_request("GET", path, query=query)
    if words.json:
        context.shell.print_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (format_cell(each, "type"), str(each.get("size", "")), format_ago(now, each["mtimeMs"]),
         format_cell(each, "name"))
        for each in found["tree"]
    ]  # fmt: skip
    context.shell.print_table([HEAD, *rows])
    if found["truncated"]:
        context.shell.print_warning("the list is incomplete")
    return 0


def get(context: CommandContext) -> int:
    """Download a file, or a folder as an archive, and print its path."""
    words = context.words
    query = {"sessionId": context.find_session()["id"], "path": words.path}
    with open_download(context.caller.address, "/download", query) as found:
        if words.output == "-":
            found.write_to(context.shell.out.buffer)
            context.shell.out.flush()
            return 0
        place = Path(words.output or found.name)
        if place.is_dir():
            place /= found.name
        if place.exists() and not words.force:
            raise Unusable(f"{place} exists already: use --force to replace it")
        write_atomically(found, place)
    context.shell.print_line(str(place))
    return 0


def put(context: CommandContext) -> int:
    """Upload files and print their new paths."""
    session = context.find_session()["id"]
    files = [Path(each) for each in context.words.files]
    path = build_session_path(session, "/uploads")
    found: dict[str, Any] = upload_files(context.caller.address, path, "file", files)
    context.print_result(
        found, "\n".join(safe_line(format_cell(each, "path")) for each in found["files"])
    )
    return 0


def write_atomically(found: DownloadedFile, place: Path) -> None:
    """Write a download to the file C{place}. If writing fails, C{place} is unchanged."""
    try:
        with _open_replacement(place) as file:
            found.write_to(file)
    except OSError as error:
        raise Unusable(f"{place}: {error.strerror}") from None


@contextlib.contextmanager
def _open_replacement(place: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file for the block, and rename it to C{place} if the block succeeds."""
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".tsctl-", delete=False) as file:
        try:
            yield file
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), 0o666 & ~mask)
            file.flush()
            Path(file.name).replace(place)
        except BaseException:
            Path(file.name).unlink()
            raise
