"""Access to conversations, each of which is a file of lines or rows of a database; call it from a
thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import evolve

from tservice.agents.model import PATH_CHARS
from tservice.agents.transcripts import reader as transcript_reader
from tservice.agents.transcripts.model import ReadPosition, TranscriptMessage, TranscriptTally
from tservice.agents.transcripts.parsers import opencode as transcript_opencode

OPENCODE = "opencode"
GEMINI = "gemini"

PROJECT = ".project_root"
"""Name of Gemini CLI's file that contains the path of the project's folder; it is two folders above
a conversation.
"""


def read_new_messages(
    place: ReadPosition, path: Path, mode: str, known: Sequence[str] = ()
) -> ReadPosition:
    """Read the new part of a conversation, and return the new position.

    @param place: the position up to which the conversation was read.
    @param known: earlier conversations of the session, which a database contains as well.
    @raise OSError: the conversation cannot be read.
    """
    if mode == OPENCODE:
        return transcript_opencode.read_changed_messages(place, path, known)
    return transcript_reader.read_new_lines(place, path, mode)


def read_beginning(path: Path, mode: str) -> TranscriptTally:
    """Return the tally of a conversation's beginning: id, folder, title and time of the first
    prompt.
    """
    if mode == OPENCODE:
        try:
            return transcript_opencode.read_conversation_start(path)
        except OSError:
            return TranscriptTally()
    tally = transcript_reader.read_file_start(path, mode)
    return evolve(tally, cwd=_read_gemini_project_folder(path)) if mode == GEMINI else tally


def read_messages(path: Path, mode: str) -> list[TranscriptMessage]:
    """Return the last messages of a conversation, oldest first.

    @raise OSError: the conversation cannot be read.
    """
    if mode == OPENCODE:
        return transcript_opencode.read_messages(path)
    return transcript_reader.read_messages(path, mode)


def iterate_messages(
    path: Path, mode: str, most: int, holds: Callable[[bytes], bool] = bool
) -> Iterator[TranscriptMessage]:
    """Iterate over the messages, oldest first; for a file, those in its first C{most} bytes.

    @param holds: returns true if a line of a file is worth parsing.
    @raise OSError: the conversation cannot be read.
    """
    if mode == OPENCODE:
        return iter(transcript_opencode.read_messages(path))
    return transcript_reader.iterate_file_messages(path, mode, most, holds)


def _read_gemini_project_folder(path: Path) -> str | None:
    try:
        with transcript_reader.open_regular(path.parent.parent / PROJECT) as file:
            named = file.read(PATH_CHARS + 1).decode().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return named if named.startswith("/") and len(named) <= PATH_CHARS else None
