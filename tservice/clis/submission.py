"""Rules for submitting a prompt unchanged through an agent's composer (protocol-input,
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
"""Byte order mark. JavaScript's C{trim} removes it from the beginning of a prompt, as it does white
space.
"""
_PASTE = re.compile(r"\x1b\[200~([^\x1b\x9b]*)\x1b\[201~")
_KEY = re.compile(r"(?:\x1b\[|\x9b|\A\[?)([\d;:]+)[u~]")
"""Escape sequence of a key in extended keyboard protocols, with the key's character codes."""
_UNFINISHED = re.compile(r"(?:\x1b\[|\x9b)[\d;:]*\Z")
_YANK = "\x19"
"""Ctrl+Y, which inserts the text that was cut. In Gemini CLI it also turns off all later
questions.
"""
_LETTERS = frozenset({"49", str(ord("y"))})
"""Character codes of C{1}, which is C{!} with Shift on many keyboards, and of L{_YANK}'s letter."""
_Sign = Annotated[str, StringConstraints(pattern=r"^[!-/:-@\[-`{-~]$")]


class DraftParking(CliRecord):
    """Keys that remove a draft from the composer, and the way to restore it.

    @ivar keys: keys to press one after the other. They leave the composer empty.
    @ivar returns: true if the agent restores the draft after the next submission. Otherwise the
        service types the draft again, which works for a draft of one row only.
    """

    keys: Annotated[tuple[_Key, ...], Field(min_length=1, max_length=4)]
    returns: bool = False


class SubmissionRules(CliRecord):
    """Rules of an agent for the end of a prompt and for Enter.

    The defaults suit an unknown agent: Enter is pressed once.

    @ivar continues: character after which Enter inserts a line break instead of submitting.
    @ivar completes: character that begins a word. Enter right after the word completes it instead
        of submitting.
    @ivar commands: character that begins a command of the agent.
    @ivar shell: character that makes the agent run the rest of a prompt as a shell command without
        asking. It is C{!} for unknown agents.
    @ivar caret: keys that visibly move the caret to the beginning of its row and back to the end.
        Without them a lost Enter cannot be distinguished from a late one.
    @ivar home: true if only the agent's first screen shows the mark of an empty composer. A prompt
        has been submitted once that screen is gone. Text typed on that screen is lost with it.
    @ivar wipe: key that deletes the row up to the caret. If nothing is before the caret, it joins
        the row to the one above.
    @ivar join: key that joins the row to the one above, if C{wipe} does not.
    @ivar cut: key that deletes the row from the caret to its end.
    @ivar drops_leading: true if the composer drops line ends at the beginning of a prompt.
    @ivar newline: key that inserts a line break; the web terminal sends it for Shift+Enter.
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
    drops_leading: bool = False
    park: DraftParking | None = None

    def fit_text(self, text: str) -> str:
        """Return C{text} as the composer keeps it, so that it can be found there after the paste.

        A blank is appended if Enter right after the text would not submit it.
        """
        return self.prevent_completion(text.lstrip("\n") if self.drops_leading else text)

    def prevent_completion(self, text: str) -> str:
        """Return C{text}, with a blank appended if Enter right after it would not submit the
        prompt.
        """
        if self.continues is not None and text.endswith(self.continues):
            return f"{text} "
        last = text.split()[-1:]
        mention = self.completes is not None and last and last[0].startswith(self.completes)
        return f"{text} " if mention and text.endswith(last[0]) else text

    def is_cli_or_shell_command(self, text: str) -> bool:
        """Return true if C{text} is a command of the agent or of the shell, which the model does
        not receive.
        """
        return self.is_command(text) or self.runs_shell_command(text)

    def runs_shell_command(self, prompt: str) -> bool:
        """Return true if the agent runs C{prompt} as a shell command without asking."""
        begun = prompt.replace(_MARK, " ").lstrip()
        return self.shell is not None and begun.startswith(self.shell)

    def may_run_shell(self, keys: str) -> bool:
        """Return true if typing C{keys} unchanged can begin a shell command.

        The composer's text when the agent reads the keys is unknown, so the position of the
        character does not count.
        """
        pasted = _PASTE.fullmatch(keys)
        if self.shell is None or pasted is not None:
            return pasted is not None and self.runs_shell_command(pasted[1])
        named = {each.lstrip("0") for key in _KEY.findall(keys) for each in re.split("[;:]", key)}
        spelled = bool(named & {str(ord(self.shell)), *_LETTERS})
        return spelled or self.shell in keys or _YANK in keys or bool(_UNFINISHED.search(keys))

    def is_command(self, text: str) -> bool:
        """Return true if C{text} is a command of the agent, which may open a list to choose
        from.
        """
        return self.commands is not None and text.lstrip().startswith(self.commands)
