"""How a prompt is given to an agent's composer so that it arrives as it is (protocol-input,
protocol-environment)."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.clis.words import Record

_Key = Annotated[str, StringConstraints(pattern=r"^(?:Home|End|C-[a-z])$")]
_Newline = Annotated[str, StringConstraints(pattern=r"^(?:S-Enter|C-[a-z])$")]
_MARK = "\ufeff"
"""Taken off the beginning of a prompt by JavaScript's C{trim}, beside white space."""
_PASTE = re.compile(r"\x1b\[200~([^\x1b\x9b]*)\x1b\[201~")
_KEY = re.compile(r"(?:\x1b\[|\x9b|\A\[?)([\d;:]+)[u~]")
"""A key by the numbers of its characters, as extended keyboard protocols send it."""
_UNFINISHED = re.compile(r"(?:\x1b\[|\x9b)[\d;:]*\Z")
_YANK = "\x19"
"""Puts back what was cut, as if it were typed; in Gemini CLI it ends all questions."""
_LETTERS = frozenset({"49", str(ord("y"))})
"""C{1}, which is the sign with Shift on many keyboards, and the letter of L{_YANK}."""
_Sign = Annotated[str, StringConstraints(pattern=r"^[!-/:-@\[-`{-~]$")]


class Park(Record):
    """How a draft is taken out of the composer, and what brings it back.

    @ivar keys: pressed one after the other; then the composer is empty.
    @ivar returns: the agent puts it back by itself once something else was submitted; else it is
        typed again as it was read, which only a draft of one row can be.
    """

    keys: Annotated[tuple[_Key, ...], Field(min_length=1, max_length=4)]
    returns: bool = False


class Submission(Record):
    """What an agent makes of a prompt's end and of its Enter.

    The defaults are those of an agent that nobody knows: Enter is pressed once.

    @ivar continues: a sign that makes an Enter right behind it a line end.
    @ivar completes: a sign that begins a word which an Enter right behind it completes.
    @ivar commands: a sign that begins a command of the agent's own.
    @ivar shell: a sign that makes the agent run the rest of a prompt as a command of the shell,
        unasked.  C{!} where nobody knows.
    @ivar caret: keys that move the caret to the beginning of its row and back to the end, where
        that can be seen; without them an Enter that got lost cannot be told from a late one.
    @ivar home: the mark of an empty composer stands only on the agent's first screen: a prompt is
        submitted once that has gone, and what is typed there meanwhile goes with it.
    @ivar wipe: a key that takes away the row up to the caret, and, where nothing stands before
        that, the end of the row above.
    @ivar join: a key that takes away the end of the row above, where C{wipe} does not.
    @ivar cut: a key that takes away the row from the caret on.
    @ivar newline: the key of a line end, which Shift+Enter presses in the page's terminal.
    """

    continues: _Sign | None = None
    completes: _Sign | None = None
    commands: _Sign | None = None
    shell: _Sign | None = "!"
    caret: tuple[_Key, _Key] | None = None
    home: bool = False
    wipe: _Key | None = None
    join: Literal["BSpace"] | None = None
    cut: _Key | None = None
    newline: _Newline = "S-Enter"
    park: Park | None = None

    def spaced(self, text: str) -> str:
        """C{text} with a blank behind it where an Enter would be taken for something else."""
        if self.continues is not None and text.endswith(self.continues):
            return f"{text} "
        last = text.split()[-1:]
        mention = self.completes is not None and last and last[0].startswith(self.completes)
        return f"{text} " if mention and text.endswith(last[0]) else text

    def is_unsaid(self, text: str) -> bool:
        """Whether C{text} is nothing that is said to the model: a command, or one of the shell."""
        return self.is_command(text) or self.runs_shell(text)

    def runs_shell(self, prompt: str) -> bool:
        """Return whether the agent runs C{prompt} as a command of the shell, unasked."""
        begun = prompt.replace(_MARK, " ").lstrip()
        return self.shell is not None and begun.startswith(self.shell)

    def may_run_shell(self, keys: str) -> bool:
        """Return whether C{keys}, typed as they are, can begin a command of the shell.

        What stands before the sign by the time that the agent reads it, nobody knows.
        """
        pasted = _PASTE.fullmatch(keys)
        if self.shell is None or pasted is not None:
            return pasted is not None and self.runs_shell(pasted[1])
        named = {each.lstrip("0") for key in _KEY.findall(keys) for each in re.split("[;:]", key)}
        spelled = bool(named & {str(ord(self.shell)), *_LETTERS})
        return spelled or self.shell in keys or _YANK in keys or bool(_UNFINISHED.search(keys))

    def is_command(self, text: str) -> bool:
        """Whether C{text} is a command of the agent's own, which may open a picker."""
        return self.commands is not None and text.lstrip().startswith(self.commands)
