"""Submission of prompts to an agent's composer without changes (protocol-input,
protocol-environment).
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.clis.field_types import CliRecord

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


class DraftParking(CliRecord):
    """Way to take a draft out of the composer, and to bring it back.

    @ivar keys: pressed one after the other; then the composer is empty.
    @ivar returns: the agent restores it after the next submission; otherwise it is typed again as
        it was read, which works for a draft of one row only.
    """

    keys: Annotated[tuple[_Key, ...], Field(min_length=1, max_length=4)]
    returns: bool = False


class SubmissionRules(CliRecord):
    """Treatment of a prompt's end and of Enter by an agent.

    The defaults suit an unknown agent: Enter is pressed once.

    @ivar continues: a character that turns an Enter right after it into a line end.
    @ivar completes: a character that begins a word which an Enter right after it completes.
    @ivar commands: a character that begins a command of the agent.
    @ivar shell: a character that makes the agent run the rest of a prompt as a shell command
        without asking; C{!} for unknown agents.
    @ivar caret: keys that move the caret to the beginning of its row and back to the end, visibly;
        without them a lost Enter cannot be distinguished from a late one.
    @ivar home: the mark of an empty composer is on the agent's first screen only: a prompt is
        submitted once that screen has gone, and text typed there is lost with it.
    @ivar wipe: a key that deletes the row up to the caret, and, if nothing is before the caret, the
        end of the row above.
    @ivar join: a key that deletes the end of the row above, if C{wipe} does not.
    @ivar cut: a key that deletes the row from the caret on.
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
    park: DraftParking | None = None

    def append_blank(self, text: str) -> str:
        """Return C{text} with a blank appended if an Enter after it would have another meaning."""
        if self.continues is not None and text.endswith(self.continues):
            return f"{text} "
        last = text.split()[-1:]
        mention = self.completes is not None and last and last[0].startswith(self.completes)
        return f"{text} " if mention and text.endswith(last[0]) else text

    def is_not_prompt(self, text: str) -> bool:
        """Return true if C{text} is not sent to the model: a command of the agent or the shell."""
        return self.is_command(text) or self.runs_shell(text)

    def runs_shell(self, prompt: str) -> bool:
        """Return whether the agent runs C{prompt} as a shell command without asking."""
        begun = prompt.replace(_MARK, " ").lstrip()
        return self.shell is not None and begun.startswith(self.shell)

    def may_run_shell(self, keys: str) -> bool:
        """Return whether C{keys}, typed as they are, can begin a shell command.

        The text before the character is unknown by the time that the agent reads it.
        """
        pasted = _PASTE.fullmatch(keys)
        if self.shell is None or pasted is not None:
            return pasted is not None and self.runs_shell(pasted[1])
        named = {each.lstrip("0") for key in _KEY.findall(keys) for each in re.split("[;:]", key)}
        spelled = bool(named & {str(ord(self.shell)), *_LETTERS})
        return spelled or self.shell in keys or _YANK in keys or bool(_UNFINISHED.search(keys))

    def is_command(self, text: str) -> bool:
        """Return true if C{text} is a command of the agent, which may open a picker."""
        return self.commands is not None and text.lstrip().startswith(self.commands)
