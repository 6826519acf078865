"""Update of the agents' conversation stores after a folder was renamed.

Agents find a conversation by the path of its folder. Claude Code and pi find a link with the name
of the new path. It leads to the folder of the old path, to which running agents continue to write.
Gemini CLI uses a file that contains the path. The functions block, so call them in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from tservice.agents.transcripts.conversation_access import GEMINI, PROJECT, read_beginning
from tservice.agents.transcripts.conversation_stores import scan_folders
from tservice.agents.transcripts.files import CANDIDATES, TranscriptLocations
from tservice.clis.interfaces import CONVERSATION_STORES, PRIMARY
from tservice.core.disk.files import rewrite_text
from tservice.core.locations.move import FolderMove


def relocate_conversations(files: TranscriptLocations, move: FolderMove) -> None:
    """Make the conversations of a renamed folder available under the new path.

    Calling this again for the same rename is harmless.

    @raise OSError: a link or file cannot be written.
    """
    for mode, name in _folder_names(files).items():
        for folder in _iterate_folders(files.roots[mode], name(move.old).rstrip("-")):
            begun = _find_working_directory(folder, mode, name)
            now = None if begun is None else move.map_path(begun)
            if now is not None and now != begun:
                _link(folder, name(now))
    chats = files.roots[GEMINI]
    for root in (chats, chats.with_name("history")):
        for folder in _iterate_folders(root, ""):
            rewrite_text(folder / PROJECT, move.map_path)


def relocate_running(
    files: TranscriptLocations, mode: str, working_dir: str, move: FolderMove
) -> None:
    """Make the conversations of a running agent available under the new path of its folder.

    The agent may write the first line of its conversation only after this call, and it writes to
    the folder of the old path.  Calling this again for the same rename is harmless.

    @param working_dir: the path in which the agent was started.
    @raise OSError: the link or the folder to which it leads cannot be written.
    """
    name, now = _folder_names(files).get(mode), move.map_path(working_dir)
    if name is None or now == working_dir:
        return
    folder = files.roots[mode] / name(working_dir)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _link(folder, name(now))


def _folder_names(files: TranscriptLocations) -> Mapping[str, Callable[[str], str]]:
    """Return functions, by mode, from a working directory to the name of its conversations' folder.

    Only the modes whose agents find conversations by that name are included.
    """
    encoders = {
        mode: store.encode_folder
        for mode, store in CONVERSATION_STORES.items()
        if store.encode_folder is not None
    }
    return {PRIMARY: lambda folder: files.get_claude_folder(folder).name, **encoders}


def _link(folder: Path, name: str) -> None:
    """Create a link called C{name} beside C{folder} that leads to it, unless the name exists."""
    with suppress(FileExistsError):
        os.symlink(folder.name, folder.with_name(name))


def _iterate_folders(root: Path, prefix: str) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(root) as entries:
        found = [
            Path(each.path)
            for each in entries
            if each.name.startswith(prefix) and each.is_dir(follow_symlinks=False)
        ]
        yield from sorted(found)


def _find_working_directory(folder: Path, mode: str, name: Callable[[str], str]) -> str | None:
    """Return the working directory of the conversations in C{folder}; C{None} if it is unknown.

    Several directories may be encoded as the same name, so the conversations themselves are read.

    @param mode: the agent whose conversations are in the folder.
    @param name: returns the name of the conversations' folder for a working directory.
    """
    depth = CONVERSATION_STORES[mode].depth - 1
    for each in islice(scan_folders(folder, mode, depth), CANDIDATES):
        begun = read_beginning(each.path, mode).cwd
        if begun is not None and name(begun) == folder.name:
            return begun
    return None
