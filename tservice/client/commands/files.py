"""C{files ls}, C{files get}, C{files put}: files of a session's workspace (protocol-files)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tservice.client.commands.context import Context
from tservice.client.errors import Unusable
from tservice.client.link.caller import session_path
from tservice.client.link.transfer import Download, download, upload
from tservice.client.shell import ago, cell
from tservice.client.terminal.safe import safe_line

HEAD = ("TYPE", "SIZE", "CHANGED", "NAME")


def ls(context: Context) -> int:
    """List a folder."""
    words = context.words
    query = {"path": words.path or ".", "depth": 1, "showHidden": int(words.all)}
    path = session_path(context.session()["id"], "/files")
    found = context.caller.call("GET", path, query=query)
    if words.json:
        context.shell.say_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (cell(each, "type"), str(each.get("size", "")), ago(now, each["mtimeMs"]),
         cell(each, "name"))
        for each in found["tree"]
    ]  # fmt: skip
    context.shell.say_table([HEAD, *rows])
    if found["truncated"]:
        context.shell.warn("the list is incomplete")
    return 0


def get(context: Context) -> int:
    """Download a file, or a folder as an archive, and print its path."""
    words = context.words
    query = {"sessionId": context.session()["id"], "path": words.path}
    with download(context.caller.address, "/download", query) as found:
        if words.output == "-":
            found.into(context.shell.out.buffer)
            context.shell.out.flush()
            return 0
        place = Path(words.output or found.name)
        if place.is_dir():
            place /= found.name
        if place.exists() and not words.force:
            raise Unusable(f"{place} exists already: use --force to replace it")
        keep_whole(found, place)
    context.shell.say(str(place))
    return 0


def put(context: Context) -> int:
    """Upload files and print their new paths."""
    session = context.session()["id"]
    files = [Path(each) for each in context.words.files]
    path = session_path(session, "/uploads")
    found: dict[str, Any] = upload(context.caller.address, path, "file", files)
    context.show(found, "\n".join(safe_line(cell(each, "path")) for each in found["files"]))
    return 0


def keep_whole(found: Download, place: Path) -> None:
    """Write the download to C{place} completely, or leave C{place} unchanged."""
    try:
        with _beside(place) as file:
            found.into(file)
    except OSError as error:
        raise Unusable(f"{place}: {error.strerror}") from None


@contextlib.contextmanager
def _beside(place: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces C{place} if the block succeeds."""
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
