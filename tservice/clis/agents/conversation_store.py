"""Description of the files in which an agent stores its conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class ConversationStore:
    """Location of one agent's conversations.

    @ivar below: default path, relative to the home folder.
    @ivar moves: environment variables that move the location, each with the path below its value;
        the first variable that is set is used.
    @ivar depth: number of folder levels down to the files; 0 for a database.
    @ivar parent: name of the folder that contains the conversations; C{None} if every C{.jsonl}
        file is one.
    @ivar named_by_folder: true if the name of a file's folder contains the conversation's id.
        Otherwise the name of the file does.
    @ivar encode_folder: returns the name of the folder of a working directory's conversations;
        C{None} if the agent does not find conversations by that name.
    @ivar lists_todos: true if the conversations contain a to-do list that no hook reports.
    @ivar records_prompts_at_once: true if the conversations contain each prompt as soon as it is
        submitted, so that a missing one was not submitted.
    @ivar records_enter_time: true if the time of a prompt is that of its Enter. Otherwise it is the
        time at which the prompt was processed.
    """

    below: str
    moves: Mapping[str, str]
    depth: int
    parent: str | None = None
    named_by_folder: bool = False
    encode_folder: Callable[[str], str] | None = None
    lists_todos: bool = False
    records_prompts_at_once: bool = False
    records_enter_time: bool = False

    def find_moved_root(self, environ: Mapping[str, str]) -> Path | None:
        """Return the location that an environment variable sets; C{None} if no variable does.

        A relative folder is ignored, because it depends on the agent's working directory.
        """
        for name, rest in self.moves.items():
            if environ.get(name, "").startswith("/"):
                return Path(environ[name]) / rest
        return None

    def get_name(self, path: Path) -> str:
        """Return the name that contains the id of the conversation C{path}."""
        return path.parent.name if self.named_by_folder else path.name
